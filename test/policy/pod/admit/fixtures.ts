import type { Container, DesiredPod, PodSpec } from '../../../../machines/kubernetes.types.ts';
import { container, pod } from '../fixtures.ts';

export { nodeView as node } from '../../../support/fixtures.ts';

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
