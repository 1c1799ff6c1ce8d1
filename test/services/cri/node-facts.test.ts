import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import { createActor, toPromise } from 'xstate';
import { nodeFactSlots } from '../../../services/cri/node-facts.ts';
import { hostFacts } from '../../support/node-fixtures.ts';
import { embeddedRig, type EmbeddedRig } from './embedded-rig.ts';

let embedded: EmbeddedRig;
beforeEach(async () => {
  embedded = await embeddedRig();
});
afterEach(() => embedded.close());

const read = (images: boolean) => {
  const { readNodeFacts } = nodeFactSlots(embedded.rig.cri, () => Promise.resolve(hostFacts()));
  const actor = createActor(readNodeFacts, { input: { images } });
  const output = toPromise(actor);
  actor.start();
  return output;
};

test('the runtime says its name, its version and its images where they are asked for', async () => {
  const { host, runtime } = await read(true);
  expect(host).toEqual(hostFacts());
  expect(runtime?.name).not.toBe('');
  expect(runtime?.version).not.toBe('');
  expect(runtime?.images?.map(({ names }) => names)).toContainEqual(
    expect.arrayContaining(['docker.io/library/busybox:1.35']),
  );
  expect((await read(false)).runtime).not.toHaveProperty('images');
});

test('the runtime is told the addresses of pods', async () => {
  const { updateRuntimeConfig } = nodeFactSlots(embedded.rig.cri, () => Promise.resolve(hostFacts()));
  const tell = () => {
    const actor = createActor(updateRuntimeConfig, { input: { podCIDR: '10.1.0.0/24' } });
    const output = toPromise(actor);
    actor.start();
    return output;
  };
  await tell();
  embedded.runtime.faults.add({ method: 'UpdateRuntimeConfig', fail: { code: status.UNAVAILABLE, message: 'away' } });
  await expect(tell()).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
});

test('a runtime that does not answer leaves the host’s facts', async () => {
  embedded.runtime.faults.add({ method: 'Status', fail: { code: status.UNAVAILABLE, message: 'away' } });
  expect(await read(false)).toEqual({ host: hostFacts(), runtime: undefined });
});
