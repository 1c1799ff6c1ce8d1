import type { Cri } from '../client.ts';
import type { ContainerStatus } from '../proto/generated/cri.ts';
import { answered } from './answered.ts';
import { LOOK_DEADLINE_MS } from './deadlines.ts';

/** ContainerStatus. @throws AgentError `NOT_FOUND` where the runtime has no such container */
export async function containerStatus(cri: Cri, containerId: string, signal?: AbortSignal): Promise<ContainerStatus> {
  const options = { deadlineMs: LOOK_DEADLINE_MS, signal };
  const { status } = await cri.call('containerStatus', { containerId, verbose: false }, options);
  return answered(status, 'ContainerStatus', 'status');
}
