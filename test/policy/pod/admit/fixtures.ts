import type { NodeView } from '../../../../machines/pod/policy/admit/admission.types.ts';
import type { Container, DesiredPod, PodSpec } from '../../../../machines/kubernetes.types.ts';
import { container, pod } from '../fixtures.ts';

export function node(more: Partial<NodeView> = {}): NodeView {
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
    ...more,
  };
}

/** A container that asks for this much. */
export function asking(
  requests: Record<string, string>,
  more: Partial<Container> = {},
  limits?: Record<string, string>,
): Container {
  return container('c', { resources: { requests, ...(limits && { limits }) }, ...more });
}

/** A pod named by its UID, of one container that asks for this much. */
export function asker(
  uid: string,
  requests: Record<string, string> = {},
  spec: Partial<PodSpec> = {},
  metadata: Partial<DesiredPod['metadata']> = {},
): DesiredPod {
  return pod({ containers: [asking(requests)], ...spec }, { uid, name: uid, ...metadata });
}

/** Guaranteed: its limits are its requests. */
export function guaranteed(
  uid: string,
  amounts: { cpu: string; memory: string },
  spec: Partial<PodSpec> = {},
): DesiredPod {
  return pod({ containers: [asking(amounts, {}, amounts)], ...spec }, { uid, name: uid });
}

export const STATIC = { annotations: { 'kubernetes.io/config.source': 'file' } };

export function staticAsker(
  uid: string,
  requests: Record<string, string> = {},
  spec: Partial<PodSpec> = {},
): DesiredPod {
  return asker(uid, requests, spec, STATIC);
}
