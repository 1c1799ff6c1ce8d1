import type { Cri } from '../client.ts';
import type { Image } from '../proto/generated/cri.ts';

/** ListImages: every image that the runtime has. */
export async function listImages(cri: Cri, signal?: AbortSignal): Promise<Image[]> {
  const options = { deadlineMs: cri.runtimeRequestTimeoutMs, signal };
  return (await cri.call('listImages', { filter: undefined }, options)).images;
}
