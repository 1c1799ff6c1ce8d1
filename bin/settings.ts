import { join } from 'node:path';
import type { LogRotationSettings } from '../machines/node/log-rotation.types.ts';
import { wholeValue } from '../machines/pod/policy/quantity.ts';
import type { SourceSettings, SyncloopSettings } from '../machines/syncloop/syncloop.types.ts';
import type { PullSettings } from '../services/cri/image-turns.ts';
import type { ConfigSettings } from '../services/cri/configs.ts';
import type { CgroupSettings, HostPaths } from '../services/host/host.types.ts';
import type { NodeInfo } from '../services/host/node-info.ts';
import type { ChangeDetection } from '../services/kube/objects/objects.types.ts';
import { durationMs } from './config/duration.ts';
import type { LoadedConfig } from './config/load-config.ts';

/** kubelet.go:initialCrashLoopBackOff, MaxCrashLoopBackOff and, by gate, their reduced values. */
const CRASH_INITIAL_MS = 10_000;
const CRASH_MAX_MS = 300_000;
const REDUCED_CRASH_INITIAL_MS = 1_000;
const REDUCED_CRASH_MAX_MS = 60_000;

/** Where the agent keeps things. */
export function hostPaths({ config, flags, containerLogsDir }: LoadedConfig): HostPaths {
  return { rootDir: flags.rootDir, podLogsDir: config.podLogsDir, containerLogsDir: containerLogsDir || undefined };
}

export function cgroupSettings({ config }: LoadedConfig, driver: CgroupSettings['driver']): CgroupSettings {
  return {
    perQos: config.cgroupsPerQOS,
    root: config.cgroupRoot || '/',
    driver,
    cpuCFSQuota: config.cpuCFSQuota,
    cpuCFSQuotaPeriod: durationMs(config.cpuCFSQuotaPeriod) * 1000,
    podPidsLimit: config.podPidsLimit,
  };
}

export function configSettings({ config, flags }: LoadedConfig, node: NodeInfo, cgroupV2: boolean): ConfigSettings {
  return {
    cpuCFSQuota: config.cpuCFSQuota,
    cpuCFSQuotaPeriodUs: durationMs(config.cpuCFSQuotaPeriod) * 1000,
    memoryCapacityBytes: node.memoryCapacityBytes,
    memoryOomGroup: cgroupV2 && config.singleProcessOOMKill !== true,
    seccompDefault: config.seccompDefault,
    seccompDir: join(flags.rootDir, 'seccomp'),
  };
}

export function pullSettings({ config }: LoadedConfig): PullSettings {
  const { serializeImagePulls, maxParallelImagePulls, registryPullQPS, registryBurst } = config;
  return { serializeImagePulls, maxParallelImagePulls, registryPullQPS, registryBurst };
}

/** Crash back-off, ms (kubelet.go:newCrashLoopBackOff): a configured maximum lowers the initial wait too. */
function crashBackoff({ config, gate }: Pick<LoadedConfig, 'config' | 'gate'>): {
  initialMs: number;
  maxMs: number;
} {
  const reduced = gate('ReduceDefaultCrashLoopBackOffDecay');
  const configured = config.crashLoopBackOff.maxContainerRestartPeriod;
  const maxMs =
    gate('KubeletCrashLoopBackOffMax') && configured !== undefined
      ? durationMs(configured)
      : reduced
        ? REDUCED_CRASH_MAX_MS
        : CRASH_MAX_MS;
  return { initialMs: Math.min(maxMs, reduced ? REDUCED_CRASH_INITIAL_MS : CRASH_INITIAL_MS), maxMs };
}

/** A size below zero turns rotation off (logs/container_log_manager.go:NewContainerLogManager). */
function logRotation({ config }: LoadedConfig): LogRotationSettings | undefined {
  const maxSizeBytes = Number(wholeValue(config.containerLogMaxSize));
  if (maxSizeBytes < 0) return undefined;
  return {
    periodMs: durationMs(config.containerLogMonitorInterval),
    maxSizeBytes,
    maxFiles: config.containerLogMaxFiles,
    maxWorkers: config.containerLogMaxWorkers,
  };
}

export function podSources({ config, flags }: LoadedConfig): SourceSettings[] {
  const sources: SourceSettings[] = [];
  const { staticPodPath, staticPodURL } = config;
  if (staticPodPath)
    sources.push({ source: 'file', location: staticPodPath, periodMs: durationMs(config.fileCheckFrequency) });
  if (staticPodURL)
    sources.push({ source: 'http', location: staticPodURL, periodMs: durationMs(config.httpCheckFrequency) });
  if (flags.kubeconfig) sources.push({ source: 'api' });
  return sources;
}

/** How changes of ConfigMaps and Secrets are found; the API's default is a watch. */
export function changeDetection({
  configMapAndSecretChangeDetectionStrategy: strategy,
}: LoadedConfig['config']): ChangeDetection {
  return strategy === 'Get' || strategy === 'Cache' ? strategy : 'Watch';
}

/** The node's addresses until its Node object tells them: those of --node-ip, where `::` and `0.0.0.0` only prefer a family. */
export function hostIPs(nodeIp: string, found: readonly string[]): string[] {
  const given = nodeIp.split(',').map((ip) => ip.trim());
  const explicit = given.filter((ip) => ip !== '' && ip !== '::' && ip !== '0.0.0.0');
  if (explicit.length > 0) return explicit;
  const isV6 = (ip: string) => Number(ip.includes(':'));
  return given.includes('::') ? found.toSorted((a, b) => isV6(b) - isV6(a)) : [...found];
}

/** Periods are the kubelet's (test/facts/constants.tsv). */
export function syncloopSettings(loaded: LoadedConfig, node: NodeInfo): SyncloopSettings {
  const { initialMs, maxMs } = crashBackoff(loaded);
  return {
    pod: {
      backoffInitialMs: initialMs,
      backoffMaxMs: maxMs,
      retryMs: 1_000,
      podRetryMs: 10_000,
      hostIPs: hostIPs(loaded.flags.nodeIp, node.hostIPs),
      runtimeName: '',
      // Without a watch a volume is as new as the kubelet's pods' own period makes it.
      ...(changeDetection(loaded.config) !== 'Watch' && { refreshPeriodMs: durationMs(loaded.config.syncFrequency) }),
    },
    pleg: { listPeriodMs: 1_000, auditPeriodMs: 300_000 },
    healthPeriodMs: 5_000,
    housekeepingPeriodMs: 2_000,
    logRotation: logRotation(loaded),
    pauseInitialMs: 100,
    pauseMaxMs: 5_000,
  };
}
