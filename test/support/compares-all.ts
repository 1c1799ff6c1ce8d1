import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { lacksForCgroups } from './cgroup-root.ts';
import { BEGUN } from './cluster.ts';
import type { ClusterRig } from './cluster-rig.ts';
import { describeWhere } from './describe-where.ts';

const run = promisify(execFile);

/**
 * Tests that mounts, cgroups and the starts of pods that are gone are compared wherever everything is to agree. Where mounts
 * and cgroups are not, as both need root, their test is left out and says so.
 *
 * @param others names of the pods that are there already
 */
export function comparesAll(rig: () => ClusterRig, ...others: string[]): void {
  const needs = { lacks: lacksForCgroups(), variable: 'STATELET_TEST_CONTAINERD' };
  describeWhere('mounts and cgroups of pods are compared too', needs, () => {
    test('one too many of either is told of', async () => {
      const [{ daemon, cgroups, kubectl }, pods] = [rig(), [...others, 'compared']];
      await rig().create('compared');
      await rig().agree(pods);
      const uid = await rig().see('pod', 'compared', '{.metadata.uid}');
      const stranger = join(daemon.rootDir, 'pods', uid, 'stranger');
      await mkdir(stranger);
      await run('mount', ['-t', 'tmpfs', 'stranger', stranger]);
      const remove = await cgroups?.add('podstranger');
      try {
        expect(await rig().differences(pods)).toEqual([
          'the cgroups has also stranger',
          `of mounts the folder of pods has also ${uid}/stranger`,
        ]);
      } finally {
        await remove?.();
        await run('umount', [stranger]);
        await rmdir(stranger);
      }
      // One too few as well.
      const about = join(daemon.rootDir, 'pods', uid, 'volumes/kubernetes.io~downward-api/about');
      await run('umount', ['-l', about]);
      expect(await rig().differences(pods)).toEqual([
        `of mounts the folder of pods lacks ${uid}/volumes/kubernetes.io~downward-api/about`,
      ]);
      await kubectl.run('delete', 'pod', 'compared', '--timeout=50s');
    }, 120_000);
  });

  test('starts of pods that are gone are counted too: one too many is told of', async () => {
    await rig().create('gone');
    await rig().agree([...others, 'gone']);
    const uid = await rig().see('pod', 'gone', '{.metadata.uid}');
    await rig().kubectl.run('delete', 'pod', 'gone', '--timeout=50s');
    await rig().agree(others);
    const file = join(rig().daemon.directory, 'starts', BEGUN);
    const before = await readFile(file);
    await appendFile(file, `${uid} gone\n`);
    const told = await rig().differences(others);
    await writeFile(file, before);
    expect(told).toEqual([`gone (${uid}) is gone and began 2 times`]);
  }, 120_000);
}
