import { shown } from '../problem.ts';
import { valueAt, type JsonObject } from '../schema.ts';
import type { Rule } from './rule.types.ts';

/** Numbers with their bounds; `zero`: 0 is accepted beside them and means off. */
const RANGES: readonly { path: string; min: number; max?: number; zero?: boolean }[] = [
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

/** Texts of a fixed choice. */
const CHOICES: readonly { path: string; accepted: readonly string[]; gate?: string }[] = [
  { path: 'topologyManagerPolicy', accepted: ['none', 'best-effort', 'restricted', 'single-numa-node'] },
  { path: 'topologyManagerScope', accepted: ['container', 'pod'] },
  { path: 'memorySwap.swapBehavior', accepted: ['', 'NoSwap', 'LimitedSwap'], gate: 'NodeSwap' },
  { path: 'hairpinMode', accepted: ['none', 'hairpin-veth', 'promiscuous-bridge'] },
  { path: 'cgroupDriver', accepted: ['cgroupfs', 'systemd'] },
  {
    path: 'imagePullCredentialsVerificationPolicy',
    accepted: ['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'],
    gate: 'KubeletEnsureSecretPulledImages',
  },
  { path: 'logging.format', accepted: ['text', 'json'] },
  { path: 'memoryReservationPolicy', accepted: ['None', 'TieredReservation'] },
  { path: 'configMapAndSecretChangeDetectionStrategy', accepted: ['Get', 'Cache', 'Watch'] },
  { path: 'authorization.mode', accepted: ['AlwaysAllow', 'Webhook'] },
  { path: 'cpuManagerPolicy', accepted: ['none', 'static'] },
  { path: 'memoryManagerPolicy', accepted: ['None', 'Static'] },
];

/** Numbers and choices: pkg/kubelet/apis/config/validation/validation.go:ValidateKubeletConfiguration. */
export const ranges: Rule = ({ config, gate }, fail) => {
  const read = (path: string) => valueAt(config as unknown as JsonObject, path.split('.'));
  for (const { path, min, max = Infinity, zero } of RANGES) {
    const value = read(path);
    if (typeof value !== 'number' || (zero && value === 0) || (value >= min && value <= max)) continue;
    const bounds = max === Infinity ? `${min} and more` : `${min} to ${max}`;
    fail(path, `${value} is out of range: accepted are ${zero ? '0 (off) and ' : ''}${bounds}`);
  }
  for (const { path, accepted, gate: name } of CHOICES) {
    const value = read(path);
    if (typeof value !== 'string' || accepted.includes(value) || (name && !gate(name))) continue;
    fail(path, `${shown(value)} is not accepted: accepted are ${accepted.map((a) => a || '""').join(', ')}`);
  }
};
