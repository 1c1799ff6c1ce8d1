import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedRuntime } from '../../../services/cri/embedded/index.ts';
import type { EmbeddedRuntime } from '../../../services/cri/embedded/index.ts';
import { lifecycleTests } from './lifecycle.ts';
import { Rig } from './rig.ts';

describe('the CRI services on the embedded runtime', () => {
  let directory: string;
  let runtime: EmbeddedRuntime;
  let rig: Rig;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cri-'));
    const images = { present: ['docker.io/library/busybox:1.35'] };
    runtime = await startEmbeddedRuntime({
      socketPath: join(directory, 'cri.sock'),
      stateDir: join(directory, 'state'),
      images,
    });
    rig = await Rig.connect(runtime.endpoint);
  });

  afterAll(async () => {
    await rig.close();
    await runtime.stop();
    await rm(directory, { recursive: true });
  });

  lifecycleTests(() => rig);

  test('an endpoint that is no unix socket is refused with what is accepted', async () => {
    await expect(Rig.connect('tcp://127.0.0.1:1')).rejects.toMatchObject({
      reason: 'InvalidEndpoint',
      message: expect.stringMatching(/^containerRuntimeEndpoint: "tcp:.*accepted is unix:\/\//),
    });
  });
});
