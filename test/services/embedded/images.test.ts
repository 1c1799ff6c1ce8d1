import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';

import type { Image } from '../../../services/cri/proto/generated/cri.ts';
import { ImageSpec } from '../../../services/cri/proto/generated/cri.ts';
import { Bench, call } from './client.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({
    images: { absent: ['example.com/gone:1'], commands: { tool: ['echo', 'from', 'image'] } },
  });
});
afterAll(() => bench.stop());

const spec = (image: string): ImageSpec => ImageSpec.fromPartial({ image });

async function pull(image: string): Promise<string> {
  const request = { image: spec(image), auth: undefined, sandboxConfig: undefined };
  return (await call(bench.images.pullImage, bench.images, request)).imageRef;
}

async function find(image: string): Promise<Image | undefined> {
  return (await call(bench.images.imageStatus, bench.images, { image: spec(image), verbose: false })).image;
}

describe('the image store', () => {
  test('has an image under its tag, digest and id once it is pulled', async () => {
    expect(await find('nginx')).toBeUndefined();
    const id = await pull('nginx');
    const image = await find('docker.io/library/nginx:latest');
    expect(image).toMatchObject({ id, repoTags: ['docker.io/library/nginx:latest'] });
    expect(await find(image?.repoDigests[0] ?? '')).toEqual(image);
    expect(await find(id)).toEqual(image);
    expect(await pull('nginx')).toBe(id);
  });

  test('gives one reference the same digest every time', async () => {
    const id = await pull('localhost:5000/team/app:2');
    await call(bench.images.removeImage, bench.images, { image: spec(id) });
    await call(bench.images.removeImage, bench.images, { image: spec(id) });
    expect(await find(id)).toBeUndefined();
    expect(await pull('localhost:5000/team/app:2')).toBe(id);
  });

  test('takes a digest by its word', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const id = await pull(`example.com/app@${digest}`);
    expect(await find(id)).toMatchObject({ repoTags: [], repoDigests: [`example.com/app@${digest}`] });
  });

  test.each(['example.com/gone:1', 'registry.invalid/app', 'registry.invalid:5000/app'])(
    'cannot pull %s: it is nowhere',
    async (image) => {
      await expect(pull(image)).rejects.toMatchObject({ code: status.NOT_FOUND });
    },
  );

  test.each(['UPPER', 'a//b', 'a:b:c', '-a', 'a b'])('refuses the malformed reference "%s"', async (image) => {
    await expect(pull(image)).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringContaining(`"${image}": invalid reference format`),
    });
  });

  test('keeps the image of its sandboxes pinned', async () => {
    const { images } = await call(bench.images.listImages, bench.images, { filter: undefined });
    expect(images.filter((image) => image.pinned).map((image) => image.repoTags)).toEqual([
      ['registry.k8s.io/pause:3.10'],
    ]);
  });

  test('tells what its images take', async () => {
    const { images } = await call(bench.images.listImages, bench.images, { filter: undefined });
    const { imageFilesystems } = await call(bench.images.imageFsInfo, bench.images, {});
    expect(imageFilesystems[0]?.inodesUsed?.value).toBe(BigInt(images.length));
  });

  test('gives the command of an image to a container that names none', async () => {
    await pull('tool');
    const id = await bench.create(await bench.sandbox(), { image: { image: 'tool' } });
    await bench.begin(id);
    await bench.exited(id);
    expect(await bench.output(id)).toEqual(['from image']);
    expect(await bench.status(id)).toMatchObject({
      image: { image: 'docker.io/library/tool:latest' },
      imageRef: expect.stringMatching(/^docker\.io\/library\/tool@sha256:/),
    });
  });
});
