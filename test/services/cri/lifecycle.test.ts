import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { embeddedRig } from './embedded-rig.ts';
import type { EmbeddedRig } from './embedded-rig.ts';
import { lifecycleTests } from './lifecycle.ts';
import { Rig } from './rig.ts';

describe('the CRI services on the embedded runtime', () => {
  let embedded: EmbeddedRig;
  beforeAll(async () => {
    embedded = await embeddedRig();
  });
  afterAll(() => embedded.close());

  lifecycleTests(() => embedded.rig);

  test('an endpoint that is no unix socket is refused with what is accepted', async () => {
    await expect(Rig.connect('tcp://127.0.0.1:1')).rejects.toMatchObject({
      reason: 'InvalidEndpoint',
      message: expect.stringMatching(/^containerRuntimeEndpoint: "tcp:.*accepted is unix:\/\//),
    });
  });
});
