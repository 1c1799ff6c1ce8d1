import { isIP } from 'node:net';
import { normalize } from 'node:path';
import { shown } from '../problem.ts';
import type { Rule } from './rule.types.ts';

const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const MAX_SUBDOMAIN = 253;
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Labels below kubernetes.io and k8s.io that a kubelet may give its node (pkg/kubelet/apis/well_known_labels.go). */
const OWN_LABELS = [
  'kubernetes.io/hostname',
  'kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
];
const OWN_PREFIXES = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

/** Taints, labels, addresses and folders: validation.go, cmd/kubelet/app/options/options.go:ValidateKubeletFlags. */
export const node: Rule = ({ config, flags }, fail) => {
  config.registerWithTaints?.forEach(({ key = '', value = '', effect = '', timeAdded }, i) => {
    const path = `registerWithTaints[${i}]`;
    if (!isQualified(key)) fail(`${path}.key`, `${shown(key)} is not a label key: accepted is [prefix/]name`);
    if (value && !NAME.test(value)) fail(`${path}.value`, `${shown(value)} is not a label value: ${LABEL_VALUE}`);
    if (!EFFECTS.includes(effect))
      fail(`${path}.effect`, `${shown(effect)} is not accepted: accepted are ${EFFECTS.join(', ')}`);
    if (timeAdded !== undefined) fail(`${path}.timeAdded`, 'is not accepted here: leave it out');
  });
  for (const [key, value] of Object.entries(flags.nodeLabels)) {
    if (!isQualified(key)) fail('--node-labels', `${shown(key)} is not a label key: accepted is [prefix/]name`);
    else if (isForeign(key))
      fail(
        '--node-labels',
        `${key} is not a label that a node may set itself: accepted below kubernetes.io and k8s.io are ${[...OWN_LABELS, ...OWN_PREFIXES.map((p) => `${p}/*`)].join(', ')}`,
      );
    if (value && !NAME.test(value))
      fail('--node-labels', `${key}: ${shown(value)} is not a label value: ${LABEL_VALUE}`);
  }
  nodeIps(flags.nodeIp, fail);
  if (!flags.rootDir || normalize(flags.rootDir).replace(/(.)\/$/, '$1') !== flags.rootDir)
    fail(
      '--root-dir',
      `${shown(flags.rootDir)} is not accepted: accepted is a path without "..", "//" or a trailing "/"`,
    );
  if (flags.hostnameOverride && !isNodeName(flags.hostnameOverride))
    fail('--hostname-override', `${shown(flags.hostnameOverride)} is not a node name: ${NODE_NAME}`);
  if (flags.exitOnLockContention && !flags.lockFile)
    fail('--exit-on-lock-contention', 'needs --lock-file: accepted is a path there');
  if (!['', 'external'].includes(flags.cloudProvider))
    fail('--cloud-provider', `${shown(flags.cloudProvider)} is not accepted: accepted are "" and external`);
  podLogsDir(config.podLogsDir, fail);
  config.allowedUnsafeSysctls?.forEach((pattern, i) => {
    if (!isNamespacedSysctl(pattern))
      fail(
        `allowedUnsafeSysctls[${i}]`,
        `${shown(pattern)} is not accepted: accepted are namespaced sysctls, kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.*, net.*`,
      );
  });
};

const LABEL_VALUE = 'accepted are up to 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends';

export const NODE_NAME =
  'accepted are up to 253 letters, digits, "-" and ".", with a letter or digit at both ends and beside each "."';

/** A DNS subdomain: apimachinery/pkg/util/validation/validation.go:IsDNS1123Subdomain. */
export function isNodeName(name: string): boolean {
  return name.length <= MAX_SUBDOMAIN && SUBDOMAIN.test(name);
}

function isQualified(key: string): boolean {
  const parts = key.split('/');
  const [prefix = '', name = ''] = parts.length === 1 ? ['x', key] : parts;
  return parts.length <= 2 && NAME.test(name) && prefix.length <= MAX_SUBDOMAIN && SUBDOMAIN.test(prefix);
}

/** A label below kubernetes.io or k8s.io outside the allowed set. */
function isForeign(key: string): boolean {
  const [prefix = ''] = key.includes('/') ? key.split('/') : [''];
  const below = (domain: string) => prefix === domain || prefix.endsWith(`.${domain}`);
  return (below('kubernetes.io') || below('k8s.io')) && !OWN_LABELS.includes(key) && !OWN_PREFIXES.some(below);
}

function nodeIps(text: string, fail: Parameters<Rule>[1]): void {
  if (!text) return;
  const families = text.split(',').map((address) => isIP(address.trim()));
  if (families.includes(0))
    fail('--node-ip', `${shown(text)} is not accepted: accepted is one IP address, or one IPv4 and one IPv6`);
  else if (families.length > 2 || new Set(families).size !== families.length)
    fail('--node-ip', `${shown(text)} has two addresses of one family: accepted is one IPv4 and one IPv6`);
}

function podLogsDir(path: string, fail: Parameters<Rule>[1]): void {
  const wrong = (why: string) =>
    fail('podLogsDir', `${shown(path)} ${why}: accepted is an absolute, normalised ASCII path`);
  if (!path) wrong('is empty');
  else if (!path.startsWith('/')) wrong('is not absolute');
  else if (normalize(path).replace(/(.)\/$/, '$1') !== path) wrong('is not normalised');
  if ([...path].some((c) => c > '\x7f')) wrong('has characters outside ASCII');
}

/** pkg/kubelet/sysctl/allowlist.go:NewAllowlist. */
function isNamespacedSysctl(pattern: string): boolean {
  const name = pattern.replace(/\*$/, '').replaceAll('/', '.');
  if (!/^[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*\.?$/.test(name)) return false;
  return /^(kernel\.shm|kernel\.msg|fs\.mqueue\.|net\.)/.test(name) || pattern === 'kernel.sem';
}
