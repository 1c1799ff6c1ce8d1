import type { Cri } from '../client.ts';
import { ImageSpec } from '../proto/generated/cri.ts';
import type { PodSandboxConfig } from '../proto/generated/cri.ts';
import { PULL_DEADLINE_MS } from './deadlines.ts';

/**
 * PullImage; an abort ends the pull.
 *
 * @param sandboxConfig of the pod that the pull is for
 * @returns what the runtime calls the image: its id or digest reference
 */
export async function pullImage(
  cri: Cri,
  image: string,
  sandboxConfig: PodSandboxConfig,
  signal?: AbortSignal,
): Promise<string> {
  const request = { image: ImageSpec.fromPartial({ image }), auth: undefined, sandboxConfig };
  return (await cri.call('pullImage', request, { deadlineMs: PULL_DEADLINE_MS, signal })).imageRef;
}
