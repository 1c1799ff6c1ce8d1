import { AgentError } from '../../machines/agent-error.types.ts';
import type { Container, DesiredPod, PodSpec } from '../../machines/kubernetes.types.ts';
import type { ContainerSettings, CurrentSandbox } from '../../machines/pod/container.types.ts';
import type { NodeView } from '../../machines/pod/policy/admit/admission.types.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../machines/runtime.types.ts';

/** Where every test's wall clock begins, ms since the epoch. */
export const T0 = Date.UTC(2026, 0, 1);

export function container(over: Partial<Container> = {}): Container {
  return { name: 'app', image: 'registry.example/app:1', imagePullPolicy: 'IfNotPresent', ...over };
}

/** A pod as the sources deliver it: one container, restartPolicy Always, grace 30 s. `spec` overrides single fields. */
export function pod(
  over: {
    uid?: string;
    name?: string;
    namespace?: string;
    metadata?: Partial<DesiredPod['metadata']>;
    spec?: Partial<PodSpec>;
  } = {},
): DesiredPod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      uid: over.uid ?? 'uid-1',
      name: over.name ?? 'web',
      namespace: over.namespace ?? 'default',
      ...over.metadata,
    },
    spec: { containers: [container()], restartPolicy: 'Always', terminationGracePeriodSeconds: 30, ...over.spec },
  };
}

/** An instance of container `app` in sandbox `s1`, running since T0, attempt 0; times follow from `state`. */
export function instance(over: Partial<ObservedContainer> = {}): ObservedContainer {
  const attempt = over.attempt ?? 0;
  const state = over.state ?? 'running';
  const createdAt = over.createdAt ?? T0;
  const name = over.name ?? 'app';
  return {
    id: `${name}-${attempt}`,
    sandboxId: 's1',
    name,
    attempt,
    state,
    createdAt,
    ...(state === 'running' || state === 'exited' ? { startedAt: createdAt } : {}),
    ...(state === 'exited' ? { finishedAt: createdAt, exitCode: 0, reason: 'Completed' } : {}),
    image: 'registry.example/app:1',
    imageId: 'sha256:app',
    hash: 'hash-1',
    restartCount: attempt,
    logPath: `/var/log/pods/default_web_uid-1/${name}/${attempt}.log`,
    at: createdAt,
    ...over,
  };
}

export function sandbox(over: Partial<ObservedSandbox> = {}): ObservedSandbox {
  return { id: 's1', attempt: 0, state: 'ready', createdAt: T0, network: 'pod', ips: ['10.0.0.7'], at: T0, ...over };
}

export function currentSandbox(over: Partial<CurrentSandbox> = {}): CurrentSandbox {
  return { id: 's1', attempt: 0, ips: ['10.0.0.7'], hostIPs: ['192.0.2.1'], ...over };
}

/** What the runtime has of the default pod: nothing, unless lists are given (newest first). */
export function observed(over: Partial<ObservedPod> = {}): ObservedPod {
  return { uid: 'uid-1', name: 'web', namespace: 'default', sandboxes: [], containers: [], at: T0, ...over };
}

/** kubelet's back-offs, and a retry of 1 s. */
export function containerSettings(over: Partial<ContainerSettings> = {}): ContainerSettings {
  return { backoffInitialMs: 10_000, backoffMaxMs: 300_000, retryMs: 1_000, ...over };
}

export function agentError(
  reason: string,
  over: { op?: string; message?: string; transient?: boolean } = {},
): AgentError {
  return new AgentError({
    op: over.op ?? 'call',
    reason,
    message: over.message ?? `${reason} happened`,
    transient: over.transient ?? true,
  });
}

/** A node of two cores and a gigabyte with nothing against any pod. */
export function nodeView(over: Partial<NodeView> = {}): NodeView {
  return {
    name: 'n1',
    labels: { 'kubernetes.io/hostname': 'n1', 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
    taints: [],
    operatingSystem: 'linux',
    architecture: 'amd64',
    allocatable: { cpu: '2', memory: '1Gi', 'ephemeral-storage': '10Gi', 'hugepages-2Mi': '0', pods: '110' },
    supplementalGroupsPolicy: true,
    pressure: [],
    kernelVersion: '6.1.0-18-amd64',
    allowedUnsafeSysctls: [],
    shuttingDown: false,
    ...over,
  };
}
