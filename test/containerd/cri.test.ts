import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startContainerd } from '../support/containerd.ts';
import type { PrivateContainerd } from '../support/containerd.ts';
import { lifecycleTests, watch } from '../services/cri/lifecycle.ts';
import { Rig } from '../services/cri/rig.ts';

describe('the CRI services on a real containerd', () => {
  let containerd: PrivateContainerd;
  let rig: Rig;

  beforeAll(async () => {
    containerd = await startContainerd(await mkdtemp(join(tmpdir(), 'containerd-')));
    rig = await Rig.connect(containerd.endpoint);
  }, 60_000);

  afterAll(async () => {
    await rig.close();
    await containerd.stop();
  }, 60_000);

  lifecycleTests(() => rig);

  test('the event stream is opened again after the daemon was restarted', async () => {
    const watching = watch(rig);
    await watching.until(({ type }) => type === 'stream.opened');
    await containerd.stopDaemon();
    await watching.until(({ type }) => type === 'stream.lost');
    await containerd.startDaemon();
    const openings = () => watching.seen.filter(({ type }) => type === 'stream.opened').length;
    await watching.until(() => openings() > 1);
    expect(watching.seen.filter(({ type }) => type === 'stream.lost')).toHaveLength(1);
    watching.stop();
  });
});
