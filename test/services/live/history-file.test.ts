import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openHistoryFile, type HistoryFileOptions } from '../../../services/live/history-file.ts';
import type { Transition } from '../../../services/live/live.types.ts';
import { until } from '../../support/until.ts';
import { at, liveWorld, podOf } from './live-world.ts';

let folder = '';
let told: string[] = [];
const opened: Awaited<ReturnType<typeof openHistoryFile>>[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'statelet-history-'));
  told = [];
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((file) => file.close()));
  rmSync(folder, { recursive: true, force: true });
});

const young = () => join(folder, 'history.jsonl');
const open = async (more: Partial<HistoryFileOptions> = {}) => {
  const file = await openHistoryFile({ folder, warn: (message) => told.push(message), everyMs: 1, ...more });
  opened.push(file);
  return file;
};
const step = (to: string): Transition => ({
  ...{ at: 1, actor: 'pod d/web', machine: 'pod', sessionId: 'x:1', from: 'a', to, event: 'go' },
  cause: { by: 'userDelete', detail: 'words' },
});
const states = (transitions: readonly Transition[]) => transitions.map(({ to }) => to);

describe('the history file', () => {
  test('gives the next agent what the last one wrote, to its own user only', async () => {
    const first = await open();
    expect(first.kept).toEqual([]);
    first.add(step('1'));
    first.add(step('2'));
    await first.close();
    expect(statSync(young()).mode & 0o777).toBe(0o600);
    const second = await open();
    expect(second.kept).toEqual([step('1'), step('2')]);
    second.add(step('3'));
    await second.close();
    expect(states((await open()).kept)).toEqual(['1', '2', '3']);
    expect(told).toEqual([]);
  });

  test('is written without being closed, and not at every step', async () => {
    const file = await open({ everyMs: 20 });
    file.add(step('1'));
    expect(existsSync(young())).toBe(false);
    await until(
      'the step is in the file',
      () => existsSync(young()) && readFileSync(young(), 'utf8').includes('"to":"1"'),
    );
    await file.close();
  });

  test('stays within its bound in two generations, the newest steps are there', async () => {
    const maxBytes = 10_000;
    const file = await open({ maxBytes });
    for (let i = 0; i < 50; i += 1) {
      for (let k = 0; k < 10; k += 1) file.add(step(`${i}.${k}`));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await file.close();
    expect(readdirSync(folder).sort()).toEqual(['history.1.jsonl', 'history.jsonl']);
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(maxBytes);
    const { kept } = await open({ maxBytes });
    expect(kept.at(-1)?.to).toBe('49.9');
    expect(kept.length).toBeGreaterThan(20);
  });

  test('one that ends in the middle of a line is set aside, what it has is kept', async () => {
    const first = await open();
    for (const to of ['1', '2', '3']) first.add(step(to));
    await first.close();
    truncateSync(young(), statSync(young()).size - 5);
    const second = await open();
    expect(states(second.kept)).toEqual(['1', '2']);
    expect(told).toEqual([expect.stringMatching(/history\.jsonl ends in the middle of a line: it was set aside as/)]);
    second.add(step('4'));
    await second.close();
    told = [];
    expect(states((await open()).kept)).toEqual(['1', '2', '4']);
    expect(told).toEqual([]);
  });

  test.each([
    ['is no history', 'something else\n', /does not begin as a history/],
    ['has a line that is none', '{"statelet":"history","version":1}\n{"at":"noon"}\n', /no transition: 2/],
    ['is of another version', '{"statelet":"history","version":9}\n', /does not begin as a history of this version/],
    ['is too large', 'x'.repeat(20_000), /has more than 10000 bytes/],
  ])('one that %s is set aside', async (_what, text, says) => {
    writeFileSync(young(), text);
    const file = await open({ maxBytes: 10_000 });
    expect(file.kept).toEqual([]);
    expect(told).toEqual([expect.stringMatching(says)]);
    expect(readFileSync(`${young()}.corrupt`, 'utf8')).toBe(text);
    file.add(step('1'));
    await file.close();
    expect(states((await open()).kept)).toEqual(['1']);
  });

  test('a link is not followed', async () => {
    symlinkSync('/dev/full', young());
    const file = await open();
    expect(told).toEqual([expect.stringMatching(/is no regular file/)]);
    await file.close();
  });

  test('a place that cannot be written is told of once; what waited is written when it can be', async () => {
    const file = await open();
    mkdirSync(young());
    for (const to of ['1', '2', '3']) {
      file.add(step(to));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(told).toEqual([expect.stringMatching(/cannot be written, the agent goes on without it: EISDIR/)]);
    rmdirSync(young());
    file.add(step('4'));
    await file.close();
    expect(told.slice(1)).toEqual([expect.stringMatching(/is written again/)]);
    expect(states((await open()).kept)).toEqual(['1', '2', '3', '4']);
  });

  test('a killed process loses what it did not write, nothing more', async () => {
    const module = new URL('../../../services/live/history-file.ts', import.meta.url).href;
    const script = `import { openHistoryFile } from ${JSON.stringify(module)};
      const file = await openHistoryFile({ folder: ${JSON.stringify(folder)}, warn: console.error, everyMs: 5 });
      file.add(${JSON.stringify(step('1'))});
      await new Promise((resolve) => setTimeout(resolve, 300));
      file.add(${JSON.stringify(step('2'))});
      process.kill(process.pid, 'SIGKILL');`;
    spawnSync(process.execPath, ['--input-type=module', '-e', script], { env: { ...process.env, NODE_OPTIONS: '' } });
    expect(states((await open()).kept)).toEqual(['1']);
  });
});

test('the history of a pod goes on over a restart of the agent', async () => {
  const first = await open();
  const simulated = liveWorld(1, { record: (transition) => first.add(transition) });
  simulated.world.put(at('web'), podOf('web'));
  simulated.world.start(simulated.live.inspect);
  await simulated.world.clock.advance(10_000);
  await first.close();
  const { kept } = await open();
  const live = simulated.restart(kept);
  await simulated.world.clock.advance(10_000);
  const steps = live.history('container default/web-node-1/app');
  expect(steps.map(({ to, cause: { by } }) => `${to} ${by}`)).toEqual([
    'fetching manifestAdded',
    'waiting manifestAdded',
    'creating manifestAdded',
    'starting manifestAdded',
    'running manifestAdded',
    'running restart',
  ]);
  simulated.world.kill();
});
