import type { Cri } from '../client.ts';
import { ImageSpec } from '../proto/generated/cri.ts';
import type { Image } from '../proto/generated/cri.ts';

/** ImageStatus: the image of a name or id; `undefined` where the runtime does not have it. */
export async function imageStatus(cri: Cri, image: string, signal?: AbortSignal): Promise<Image | undefined> {
  const request = { image: ImageSpec.fromPartial({ image }), verbose: false };
  const options = { deadlineMs: cri.runtimeRequestTimeoutMs, signal };
  return (await cri.call('imageStatus', request, options)).image;
}
