import { acceptedNumbers, RANGES } from '../bounds.ts';
import { shown } from '../problem.ts';
import { valueAt, type JsonObject } from '../schema.ts';
import type { Rule } from './rule.types.ts';

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
    fail(path, `${value} is out of range: accepted are ${acceptedNumbers(path)}`);
  }
  for (const { path, accepted, gate: name } of CHOICES) {
    const value = read(path);
    if (typeof value !== 'string' || accepted.includes(value) || (name && !gate(name))) continue;
    fail(path, `${shown(value)} is not accepted: accepted are ${accepted.map((a) => a || '""').join(', ')}`);
  }
};
