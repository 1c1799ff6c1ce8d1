import { TOP_FIELDS } from './schema.ts';

/** Numbers with their bounds; `zero`: 0 is accepted beside them and means off. */
export const RANGES: readonly { path: string; min: number; max?: number; zero?: boolean }[] = [
  { path: 'nodeLeaseDurationSeconds', min: 1 },
  { path: 'eventBurst', min: 0 },
  { path: 'eventRecordQPS', min: 0 },
  { path: 'healthzPort', min: 1, max: 65535, zero: true },
  { path: 'imageGCHighThresholdPercent', min: 0, max: 100 },
  { path: 'imageGCLowThresholdPercent', min: 0, max: 100 },
  { path: 'iptablesDropBit', min: 0, max: 31 },
  { path: 'iptablesMasqueradeBit', min: 0, max: 31 },
  { path: 'kubeAPIBurst', min: 0 },
  { path: 'kubeAPIQPS', min: 0 },
  { path: 'nodeStatusMaxImages', min: -1 },
  { path: 'maxOpenFiles', min: 0 },
  { path: 'maxPods', min: 0 },
  { path: 'oomScoreAdj', min: -1000, max: 1000 },
  { path: 'podsPerCore', min: 0 },
  { path: 'port', min: 1, max: 65535 },
  { path: 'readOnlyPort', min: 1, max: 65535, zero: true },
  { path: 'registryBurst', min: 0 },
  { path: 'registryPullQPS', min: 0 },
  { path: 'maxParallelImagePulls', min: 1 },
  { path: 'containerLogMaxWorkers', min: 1 },
  { path: 'containerLogMaxFiles', min: 2 },
  { path: 'logging.verbosity', min: 0, max: 2147483647 },
  { path: 'tracing.samplingRatePerMillion', min: 0, max: 1_000_000 },
];

/** Go's integers, as far as JavaScript has them exactly. */
export const INTEGERS: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-2147483648, 2147483647],
  uint32: [0, 4294967295],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

/** The whole numbers that a field takes, by its own range and its type's: `0 (off) and 1 to 65535`. */
export function acceptedNumbers(path: string, type = TOP_FIELDS.find((field) => field.path === path)?.type): string {
  const [least, most] = INTEGERS[type ?? ''] ?? [-Infinity, Infinity];
  const { min = least, max = most, zero = false } = RANGES.find((range) => range.path === path) ?? {};
  return `${zero ? '0 (off) and ' : ''}${min} to ${Math.min(max, most)}`;
}
