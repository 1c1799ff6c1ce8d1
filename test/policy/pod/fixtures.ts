import type { Container, DesiredPod, PodSpec } from '../../../machines/kubernetes.types.ts';
import { containerHash } from '../../../machines/pod/policy/container-hash.ts';
import type { PodStatusInput } from '../../../machines/pod/policy/pod-status-input.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../machines/runtime.types.ts';

export const T0 = Date.UTC(2026, 0, 1, 12, 0, 0);

export function container(name: string, more: Partial<Container> = {}): Container {
  return { name, image: 'busybox:1', ...more };
}

export function pod(spec: Partial<PodSpec> = {}, metadata: Partial<DesiredPod['metadata']> = {}): DesiredPod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'u-1', ...metadata },
    spec: { containers: [container('main')], restartPolicy: 'Always', ...spec },
  };
}

export function sandbox(more: Partial<ObservedSandbox> = {}): ObservedSandbox {
  return { id: 's0', attempt: 0, state: 'ready', createdAt: T0, network: 'pod', ips: ['10.0.0.5'], at: T0, ...more };
}

export function instance(name: string, more: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: `${name}-0`,
    sandboxId: 's0',
    name,
    attempt: 0,
    state: 'running',
    createdAt: T0,
    startedAt: T0 + 1500,
    image: 'docker.io/library/busybox:other',
    imageId: 'sha256:abc',
    hash: containerHash(container(name)),
    restartCount: 0,
    logPath: '',
    at: T0,
    ...more,
  };
}

export function ended(name: string, exitCode: number, more: Partial<ObservedContainer> = {}): ObservedContainer {
  return instance(name, { state: 'exited', exitCode, finishedAt: T0 + 9000, ...more });
}

export function observed(containers: ObservedContainer[], sandboxes: ObservedSandbox[] = [sandbox()]): ObservedPod {
  return { uid: 'u-1', name: 'web', namespace: 'shop', sandboxes, containers, at: T0 };
}

export function statusInput(more: Partial<PodStatusInput> = {}): PodStatusInput {
  return {
    pod: pod(),
    observed: observed([]),
    waiting: {},
    terminating: false,
    released: false,
    hostIPs: ['192.168.0.9'],
    runtimeName: 'containerd',
    now: T0 + 10_400,
    ...more,
  };
}
