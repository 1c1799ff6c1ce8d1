import type { Lease } from '../../../machines/kubernetes.types.ts';
import type { Kube } from '../client.ts';
import { LEASES } from './paths.ts';

/** @throws AgentError `AlreadyExists`, or `NotFound` as long as the namespace kube-node-lease is not there */
export function createLease(kube: Kube, lease: Lease, signal?: AbortSignal): Promise<Lease> {
  return kube.request<Lease>({
    op: 'create lease',
    method: 'POST',
    path: LEASES,
    body: lease,
    turns: 'heartbeats',
    signal,
  });
}
