import type { Cri } from '../client.ts';
import type { PodSandboxStatus } from '../proto/generated/cri.ts';
import { answered } from './answered.ts';
import { LOOK_DEADLINE_MS } from './deadlines.ts';

/** PodSandboxStatus. @throws AgentError `NOT_FOUND` where the runtime has no such sandbox */
export async function podSandboxStatus(
  cri: Cri,
  podSandboxId: string,
  signal?: AbortSignal,
): Promise<PodSandboxStatus> {
  const options = { deadlineMs: LOOK_DEADLINE_MS, signal };
  const { status } = await cri.call('podSandboxStatus', { podSandboxId, verbose: false }, options);
  return answered(status, 'PodSandboxStatus', 'status');
}
