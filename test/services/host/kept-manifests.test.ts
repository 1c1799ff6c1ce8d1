import { expect, test } from '@jest/globals';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFactStore } from '../../../services/host/index.ts';
import { keptManifests } from '../../../services/host/manifests/kept.ts';
import { effect } from '../cri/rig.ts';
import { rig } from './rig.ts';

const TEXT = 'kind: Pod\n';

async function kept() {
  const { paths, logger, warnings } = await rig();
  const folder = join(paths.rootDir, 'statelet/manifests');
  const slots = () => keptManifests(createFactStore(paths, logger, 'manifests'));
  const keep = (origins: string[], forget: string[] = [], source: 'file' | 'http' = 'file') =>
    effect(slots().keepManifests, { source, keep: origins.map((origin) => ({ origin, text: TEXT })), forget });
  const recall = (source: 'file' | 'http' = 'file') => effect(slots().recallManifests, { source });
  return { folder, keep, recall, warnings };
}

test('last good manifests are known to the next agent, those of each source to that source', async () => {
  const { keep, recall } = await kept();
  expect(await recall()).toEqual({});
  await keep(['/m/a.yaml', '/m/b.yaml']);
  await keep(['https://config.example/a b'], [], 'http');
  await keep([], ['/m/b.yaml', '/m/never.yaml']);
  expect(await recall()).toEqual({ '/m/a.yaml': TEXT });
  expect(await recall('http')).toEqual({ 'https://config.example/a b': TEXT });
});

test('they are for the owner alone, as they may hold what is secret', async () => {
  const { folder, keep } = await kept();
  await keep(['/m/a.yaml']);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  const [name = ''] = await readdir(folder);
  expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
});

test('one that was changed on the disk is set aside with a warning, and the others are known', async () => {
  const { folder, keep, recall, warnings } = await kept();
  await keep(['/m/a.yaml', '/m/b.yaml']);
  const [first = ''] = await readdir(folder);
  const text = await readFile(join(folder, first), 'utf8');
  await writeFile(join(folder, first), text.replace('kind: Pod', 'kind: Bad'));
  expect(Object.keys(await recall())).toHaveLength(1);
  expect(warnings).toEqual(['a kept copy cannot be used and was set aside']);
  expect(await readdir(folder)).toContain(`${first}.corrupt`);
});
