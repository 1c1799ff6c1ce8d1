import type { Lease } from '../../../machines/kubernetes.types.ts';
import type { Kube } from '../client.ts';
import { leasePath } from './paths.ts';

/** The node's lease. @throws AgentError `NotFound` */
export function getLease(kube: Kube, nodeName: string, signal?: AbortSignal): Promise<Lease> {
  return kube.request<Lease>({
    op: 'get lease',
    method: 'GET',
    path: leasePath(nodeName),
    turns: 'heartbeats',
    signal,
  });
}
