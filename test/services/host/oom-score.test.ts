import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { applyOomScoreAdj } from '../../../services/host/index.ts';
import { temporary } from './rig.ts';

test('the score is written as it is', async () => {
  const file = join(await temporary(), 'oom_score_adj');
  await writeFile(file, '0');
  const told: string[] = [];
  await applyOomScoreAdj(-999, (message) => told.push(message), file);
  expect([await readFile(file, 'utf8'), told]).toEqual(['-999', []]);
});

test('a score that cannot be set is told and stops nothing', async () => {
  const folder = await temporary();
  const told: string[] = [];
  await applyOomScoreAdj(-999, (message) => told.push(message), folder);
  expect(told).toEqual([expect.stringMatching(/^oomScoreAdj: -999 could not be set for the agent itself: EISDIR/)]);
});
