import { AgentError } from '../../../machines/agent-error.types.ts';
import type { Lease } from '../../../machines/kubernetes.types.ts';
import type { Kube } from '../client.ts';
import { leasePath } from './paths.ts';

/** Writes the whole lease. @throws AgentError `Conflict` where another one wrote since it was read, `NotFound` */
export async function updateLease(kube: Kube, lease: Lease, signal?: AbortSignal): Promise<Lease> {
  const op = 'update lease';
  const name = lease.metadata?.name;
  if (!name)
    throw new AgentError({ op, reason: 'Invalid', message: `${op}: metadata.name is not set`, transient: false });
  return await kube.request<Lease>({
    op,
    method: 'PUT',
    path: leasePath(name),
    body: lease,
    turns: 'heartbeats',
    signal,
  });
}
