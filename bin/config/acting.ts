import { partThatActs } from './caveats.ts';
import { isObject, TOP_FIELDS, type Json, type JsonObject } from './schema.ts';
import { originOf, shownOrigin, type Origins } from './merge.ts';
import { ALL_FLAGS } from './parse-flags.ts';
import { gateNamed } from './gates.ts';
import type { FlagRow } from './tables.types.ts';

/** Fields that this version acts on. docs/configuration.md is made of it; setting any other one gives a warning. */
const ACTING_FIELDS: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'staticPodPath',
  'staticPodURL',
  'staticPodURLHeader',
  'fileCheckFrequency',
  'configMapAndSecretChangeDetectionStrategy',
  'syncFrequency',
  'httpCheckFrequency',
  'podLogsDir',
  'containerLogMaxSize',
  'containerLogMaxFiles',
  'containerLogMaxWorkers',
  'containerLogMonitorInterval',
  'enableServer',
  'address',
  'readOnlyPort',
  'healthzPort',
  'healthzBindAddress',
  'registryPullQPS',
  'registryBurst',
  'serializeImagePulls',
  'maxParallelImagePulls',
  'runtimeRequestTimeout',
  'containerRuntimeEndpoint',
  'imageServiceEndpoint',
  'cgroupsPerQOS',
  'cgroupRoot',
  'cgroupDriver',
  'cpuCFSQuota',
  'cpuCFSQuotaPeriod',
  'podPidsLimit',
  'crashLoopBackOff.maxContainerRestartPeriod',
  'resolvConf',
  'seccompDefault',
  'singleProcessOOMKill',
  'oomScoreAdj',
  'failCgroupV1',
  'failSwapOn',
  'registerNode',
  'registerWithTaints',
  'nodeStatusUpdateFrequency',
  'nodeStatusReportFrequency',
  'nodeLeaseDurationSeconds',
  'nodeStatusMaxImages',
  'kubeAPIQPS',
  'kubeAPIBurst',
  'eventRecordQPS',
  'eventBurst',
  'maxPods',
  'podsPerCore',
  'kubeReserved',
  'systemReserved',
  'allowedUnsafeSysctls',
  'providerID',
  'enableControllerAttachDetach',
  'featureGates',
  'logging.format',
  'logging.verbosity',
]);

/**
 * Values of the others that ask for nothing which this version does not do: what they switch off is not there. Setting
 * one of them gives no warning.
 */
const AS_IT_IS: ReadonlyMap<string, readonly Json[]> = new Map<string, readonly Json[]>([
  ['rotateCertificates', [false]],
  ['serverTLSBootstrap', [false]],
  ['enableDebuggingHandlers', [false]],
  ['enableContentionProfiling', [false]],
  ['enableProfilingHandler', [false]],
  ['enableDebugFlagsHandler', [false]],
  ['enableSystemLogHandler', [false]],
  ['enableSystemLogQuery', [false]],
  ['imageGCHighThresholdPercent', [100]],
  ['imageMaximumGCAge', ['0s']],
  ['cpuManagerPolicy', ['none']],
  ['memoryManagerPolicy', ['None']],
  ['topologyManagerPolicy', ['none']],
  ['runOnce', [false]],
  ['makeIPTablesUtilChains', [false]],
  ['enforceNodeAllocatable', [[], ['none']]],
  ['kernelMemcgNotification', [false]],
  ['shutdownGracePeriod', ['0s']],
  ['shutdownGracePeriodCriticalPods', ['0s']],
  ['localStorageCapacityIsolation', [false]],
  ['logging.options.text.splitStream', [false]],
  ['logging.options.json.splitStream', [false]],
]);

/** Flags without a field that act. */
const ACTING_FLAGS: ReadonlySet<string> = new Set([
  'config',
  'config-dir',
  'help',
  'version',
  'root-dir',
  'hostname-override',
  'node-ip',
  'kubeconfig',
  'node-labels',
  'cloud-provider',
  'strict-config',
  'container-logs-dir',
  'quickstart',
  'inspect',
  'inspect-write',
]);

/** Gates that change a default, a rule or a behaviour here. */
const ACTING_GATES: ReadonlySet<string> = new Set([
  'AllAlpha',
  'AllBeta',
  'CustomCPUCFSQuotaPeriod',
  'KubeletCrashLoopBackOffMax',
  'KubeletEnsureSecretPulledImages',
  'ReduceDefaultCrashLoopBackOffDecay',
]);

export function fieldActs(path: string): boolean {
  return ACTING_FIELDS.has(path);
}

export function flagActs({ name, field }: FlagRow): boolean {
  return field ? fieldActs(field) : ACTING_FLAGS.has(name);
}

export function gateActs(name: string): boolean {
  return ACTING_GATES.has(name);
}

/** The value of a field in a merged configuration. */
function valueAt(config: JsonObject, path: string): Json | undefined {
  return path
    .split('.')
    .reduce<Json | undefined>(
      (value, step) => (isObject(value ?? null) ? (value as JsonObject)[step] : undefined),
      config,
    );
}

function isAsItIs(config: JsonObject, path: string): boolean {
  const value = JSON.stringify(valueAt(config, path));
  return AS_IT_IS.get(path)?.some((each) => JSON.stringify(each) === value) ?? false;
}

/**
 * One line an origin that names what was set there and has no effect in this version. A gate that the kubelet itself
 * does not ask for is not named: it has no effect there either.
 */
export function noEffect(config: JsonObject, origins: Origins, given: ReadonlyMap<string, unknown>): string[] {
  const byOrigin = new Map<string, string[]>();
  const name = (origin: string, what: string) => byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), what]);
  for (const { path } of TOP_FIELDS) {
    const origin = originOf(origins, path);
    if (
      origin === 'default' ||
      origin.startsWith('flag:') ||
      fieldActs(path) ||
      partThatActs(path) ||
      isAsItIs(config, path)
    )
      continue;
    name(shownOrigin(origin), path);
  }
  for (const flag of ALL_FLAGS)
    if (
      given.has(flag.name) &&
      !flagActs(flag) &&
      !partThatActs(flag.field ?? '') &&
      !isAsItIs(config, flag.field ?? '')
    )
      name('command line', `--${flag.name}`);
  for (const gate of Object.keys(config['featureGates'] ?? {}))
    if (!gateActs(gate) && gateNamed(gate)?.kubelet)
      name(shownOrigin(originOf(origins, `featureGates.${gate}`)), `featureGates.${gate}`);
  return [...byOrigin].map(([origin, names]) => `${origin}: no effect in this version: ${names.join(', ')}`);
}
