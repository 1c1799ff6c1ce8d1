import { readFileSync } from 'node:fs';
import type { RecordedEvent } from '../machines/agent.types.ts';
import type { Taint } from '../machines/kubernetes.types.ts';
import type { NodeFacts, NodeSettings } from '../machines/node/node.types.ts';
import { nodeObject } from '../machines/node/policy/node-object.ts';
import { nodeStatus } from '../machines/node/policy/node-status.ts';
import type { NodeView } from '../machines/pod/policy/admit/admission.types.ts';
import { nodeViewOf } from '../machines/syncloop/policy/node-view.ts';
import { resolverProblem } from '../services/cri/host-resolver.ts';
import { connectKube, type Kube } from '../services/kube/client.ts';
import { loadKubeconfig } from '../services/kube/kubeconfig.ts';
import { durationMs } from './config/duration.ts';
import type { LoadedConfig } from './config/load-config.ts';

/** The release of Kubernetes whose kubelet this agent stands in for: what the control plane judges version skew by. */
const KUBERNETES_VERSION = 'v1.36.0';

/** `v1.36.0+statelet.0.1.0` */
function kubeletVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return `${KUBERNETES_VERSION}+statelet.${version}`;
}

/**
 * The API server that --kubeconfig names; undefined without one. Nothing is asked of it yet.
 *
 * @throws AgentError `InvalidKubeconfig` that names file and field
 */
export async function apiServer({ config, flags }: LoadedConfig): Promise<Kube | undefined> {
  if (!flags.kubeconfig) return undefined;
  const { kubeAPIQPS: qps, kubeAPIBurst: burst, eventRecordQPS, eventBurst, nodeLeaseDurationSeconds } = config;
  return connectKube(await loadKubeconfig(flags.kubeconfig, process.env), {
    qps,
    burst,
    events: { qps: eventRecordQPS, burst: eventBurst },
    // cmd/kubelet/app/server.go: the heartbeat client's timeout.
    heartbeatMs: Math.min(durationMs(config.nodeStatusUpdateFrequency), nodeLeaseDurationSeconds * 1000),
    userAgent: `statelet/${kubeletVersion()}`,
  });
}

/** What of the configuration concerns the Node object. */
export function nodeSettings(
  { config, flags }: LoadedConfig,
  hostname: string,
  notices: RecordedEvent[],
): NodeSettings {
  return {
    hostname,
    registerNode: config.registerNode && flags.kubeconfig !== '',
    labels: labelsOf(flags.nodeLabels),
    taints: (config.registerWithTaints ?? []) as Taint[],
    providerID: config.providerID,
    cloudProvider: flags.cloudProvider === 'external' ? 'external' : '',
    nodeIPs: flags.nodeIp ? flags.nodeIp.split(',').map((ip) => ip.trim()) : [],
    port: config.port,
    kubeletVersion: kubeletVersion(),
    maxPods: config.maxPods,
    podsPerCore: config.podsPerCore,
    kubeReserved: config.kubeReserved ?? {},
    systemReserved: config.systemReserved ?? {},
    evictionHard: config.evictionHard ?? {},
    localStorageCapacityIsolation: config.localStorageCapacityIsolation,
    maxImages: config.nodeStatusMaxImages,
    enableControllerAttachDetach: config.enableControllerAttachDetach,
    statusFrequencyMs: durationMs(config.nodeStatusUpdateFrequency),
    reportFrequencyMs: durationMs(config.nodeStatusReportFrequency),
    leaseDurationSeconds: config.nodeLeaseDurationSeconds,
    notices,
  };
}

const CGROUP_V1 =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. ' +
  'More information at https://git.k8s.io/enhancements/keps/sig-node/4569-cgroup-v1-maintenance-mode';

/** What users are told of this node when the agent starts (test/facts/events.tsv). */
export async function startNotices({ config }: LoadedConfig, isV2: boolean): Promise<RecordedEvent[]> {
  const resolver = await resolverProblem(config.resolvConf ?? '');
  return [
    ...(isV2 ? [] : [{ type: 'Warning', reason: 'CgroupV1', message: CGROUP_V1 } as const]),
    ...(resolver ? [{ type: 'Warning', reason: 'CheckLimitsForResolvConf', message: resolver } as const] : []),
  ];
}

function labelsOf(given: Record<string, string> | string | undefined): Record<string, string> {
  if (typeof given !== 'string') return given ?? {};
  return Object.fromEntries(
    given
      .split(',')
      .filter(Boolean)
      .map((pair) => pair.split('=', 2) as [string, string]),
  );
}

/** The node that pods are judged against before the API server has said anything, and where there is none. */
export function nodeView(
  nodeName: string,
  facts: NodeFacts,
  settings: NodeSettings,
  { config }: LoadedConfig,
): NodeView {
  const situation = {
    health: 'healthy',
    message: '',
    pressure: { memory: false, disk: false, pid: false },
    shuttingDown: false,
  } as const;
  const now = Date.now();
  const status = nodeStatus({ facts, settings, situation, awayMs: 0, existing: undefined, resetExtended: false, now });
  return nodeViewOf(
    { ...nodeObject(nodeName, facts.host, settings), status },
    {
      name: nodeName,
      labels: {},
      taints: [],
      operatingSystem: facts.host.operatingSystem,
      architecture: facts.host.architecture,
      allocatable: {},
      supplementalGroupsPolicy: facts.runtime?.supplementalGroupsPolicy ?? false,
      pressure: [],
      kernelVersion: facts.host.kernelVersion,
      allowedUnsafeSysctls: config.allowedUnsafeSysctls ?? [],
      shuttingDown: false,
    },
  );
}
