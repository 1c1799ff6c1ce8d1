import { invalid } from '../errors.ts';
import { diskUsage } from '../disk-usage.ts';
import { nowNs } from '../clock.ts';
import type { ImageSpec } from '../../proto/generated/cri.ts';
import type { Verb } from './verb.ts';

/** Images of the store, or the one that the filter names. */
export const listImages: Verb<'ListImages'> = (runtime, { filter }) => {
  const wanted = filter?.image?.image ?? '';
  if (wanted === '') return { images: runtime.images.list() };
  const image = runtime.images.find(wanted);
  return { images: image === undefined ? [] : [image] };
};

/** The image, or nothing where the store has none: that is no error. */
export const imageStatus: Verb<'ImageStatus'> = (runtime, request) => ({
  image: runtime.images.find(nameOf(request.image)),
  info: {},
});

/** Puts the image into the store; the answer is its id, as containerd's. */
export const pullImage: Verb<'PullImage'> = async (runtime, request) => {
  const imageRef = runtime.images.pull(nameOf(request.image));
  await runtime.records.saveImages(runtime.images.references());
  return { imageRef };
};

/** Removes the image with all its names. One that is not there is fine. */
export const removeImage: Verb<'RemoveImage'> = async (runtime, request) => {
  runtime.images.remove(nameOf(request.image));
  await runtime.records.saveImages(runtime.images.references());
  return {};
};

/** The state directory's file system: nominal sizes for images, true ones for what containers wrote. */
export const imageFsInfo: Verb<'ImageFsInfo'> = async (runtime) => {
  const timestamp = nowNs();
  const fsId = { mountpoint: runtime.stateDir };
  const images = runtime.images.list();
  const written = await diskUsage(runtime.stateDir);
  return {
    imageFilesystems: [
      {
        timestamp,
        fsId,
        usedBytes: { value: images.reduce((sum, image) => sum + image.size, 0n) },
        inodesUsed: { value: BigInt(images.length) },
      },
    ],
    containerFilesystems: [
      { timestamp, fsId, usedBytes: { value: written.bytes }, inodesUsed: { value: written.inodes } },
    ],
  };
};

function nameOf(spec: ImageSpec | undefined): string {
  if (spec === undefined || spec.image === '') throw invalid('image reference is required');
  return spec.image;
}
