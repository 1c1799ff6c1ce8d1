import { isAbsolute, join } from 'node:path';
import { FLAGS } from './data/flags.ts';
import { gateEnabled } from './gates.ts';
import { joinPath, setValueAt, TOP_FIELDS, valueAt, type Json, type JsonObject } from './schema.ts';
import { shownOrigin, type Origins } from './merge.ts';

/** Filled in on Linux where a configuration file is given and sets none (pkg/kubelet/eviction/defaults_linux.go). */
const EVICTION_HARD: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/** What holds where no configuration file is given (cmd/kubelet/app/options/options.go:applyLegacyDefaults). */
const LEGACY = ['anonymous-auth', 'authentication-token-webhook', 'authorization-mode', 'read-only-port'];

/** Relative values of these are joined to the folder of the file that says them. */
const PATHS = [
  'staticPodPath',
  'authentication.x509.clientCAFile',
  'tlsCertFile',
  'tlsPrivateKeyFile',
  'resolvConf',
  'volumePluginDir',
  'podLogsDir',
];

/** Joins relative paths to the file's folder, in place; "" stays, it means none. */
export function resolvePaths(config: JsonObject, folder: string): void {
  for (const path of PATHS) {
    const steps = path.split('.');
    const value = valueAt(config, steps);
    if (typeof value === 'string' && value !== '' && !isAbsolute(value)) setValueAt(config, steps, join(folder, value));
  }
}

/** evictionHard of the main file: the defaults where it sets none, before drop-ins are merged. */
export function fillEvictionHard(config: JsonObject, origins: Origins): void {
  if (config['evictionHard'] !== undefined && config['mergeDefaultEvictionSettings'] !== true) return;
  const set = (config['evictionHard'] ??= {}) as JsonObject;
  for (const [signal, value] of Object.entries(EVICTION_HARD))
    if (!Object.hasOwn(set, signal)) {
      set[signal] = value;
      origins[joinPath('evictionHard', signal)] = 'default';
    }
}

const isZero = (value: Json) => value === 0 || value === '' || value === false || value === '0s';

/**
 * Every field that was not set gets its default, in place. A zero counts as not set where the field is no pointer in the
 * kubelet's type (cmd/kubelet …/v1beta1/defaults.go:SetDefaults_KubeletConfiguration).
 *
 * @param legacy no configuration file was given
 * @returns a warning for each zero that a default replaced
 */
export function applyDefaults(config: JsonObject, origins: Origins, legacy: boolean): string[] {
  const warnings: string[] = [];
  const legacyDefaults = new Map(
    legacy ? FLAGS.filter((f) => LEGACY.includes(f.name)).map((f) => [f.field, f.default as Json]) : [],
  );
  for (const { path, steps, nullable, default: tableDefault } of TOP_FIELDS) {
    const fallback = (legacyDefaults.get(path) ?? derived(path, config, origins) ?? tableDefault) as Json | undefined;
    const value = valueAt(config, steps);
    if (fallback === undefined) continue;
    if (value !== undefined && (nullable || !isZero(value))) continue;
    const changed = value !== undefined && !isZero(fallback);
    if (changed)
      warnings.push(
        `${shownOrigin(origins[path] ?? 'default')}: ${path}: ${JSON.stringify(value)} counts as not set here, as in the kubelet; the default ${JSON.stringify(fallback)} is used`,
      );
    setValueAt(config, steps, structuredClone(fallback));
    if (value === undefined || changed) origins[path] = 'default';
  }
  if (typeof config['podPidsLimit'] === 'number' && config['podPidsLimit'] < 0) config['podPidsLimit'] = -1;
  return warnings;
}

/** Defaults that depend on other values, which stand before them in the table or are filled in by then. */
function derived(path: string, config: JsonObject, origins: Origins): Json | undefined {
  const gates = (config['featureGates'] ?? {}) as Record<string, boolean>;
  switch (path) {
    case 'nodeStatusReportFrequency':
      return origins['nodeStatusUpdateFrequency'] === 'default' ? undefined : config['nodeStatusUpdateFrequency'];
    case 'serializeImagePulls':
      return Number(config['maxParallelImagePulls'] ?? 0) < 2;
    case 'imagePullCredentialsVerificationPolicy':
      return gateEnabled('KubeletEnsureSecretPulledImages', gates) ? 'NeverVerifyPreloadedImages' : '';
    case 'crashLoopBackOff.maxContainerRestartPeriod':
      return gateEnabled('KubeletCrashLoopBackOffMax', gates) ? '5m0s' : undefined;
    default:
      return undefined;
  }
}
