import { readFile, rename } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { splitLines } from '../../../services/cri/embedded/log-file.ts';
import { Bench, call, until } from './client.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start();
});
afterAll(() => bench.stop());

describe('the log of a container', () => {
  test('has a line per line of output: time, stream, tag and text', async () => {
    const id = await bench.shell('echo out; echo; echo err >&2');
    await bench.exited(id);
    const lines = (await bench.log(id)).split('\n').slice(0, -1);
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z`;
    expect(lines).toHaveLength(3);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(new RegExp(`^${time} stdout F out$`)),
        expect.stringMatching(new RegExp(`^${time} stdout F $`)),
        expect.stringMatching(new RegExp(`^${time} stderr F err$`)),
      ]),
    );
  });

  test('is complete as soon as the container is seen exited, however large', async () => {
    const id = await bench.shell('seq 1 200000');
    await bench.exited(id);
    const lines = await bench.output(id);
    expect(lines).toHaveLength(200_000);
    expect(lines.at(-1)).toBe('200000');
  });

  test('has a last line without newline as a partial one', async () => {
    const id = await bench.shell('printf end');
    await bench.exited(id);
    expect(await bench.log(id)).toMatch(/ stdout P end\n$/);
  });

  test('lies where sandbox and container config say, and stays when the container is removed', async () => {
    const config = bench.sandboxConfig();
    const id = await bench.shell('echo kept', { logPath: 'deep/er/7.log' }, await bench.sandbox(config));
    await bench.exited(id);
    const path = `${config.logDirectory}/deep/er/7.log`;
    expect((await bench.status(id)).logPath).toBe(path);
    await call(bench.client.removeContainer, bench.client, { containerId: id });
    expect(await readFile(path, 'utf8')).toContain('kept');
  });

  test('goes to a new file after rename and reopen, with no line lost or doubled', async () => {
    const id = await bench.shell('i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo $i; sleep 0.002; done');
    const { logPath } = await bench.status(id);
    await until(async () => ((await bench.output(id)).length > 20 ? true : undefined));
    await rename(logPath, `${logPath}.1`);
    await call(bench.client.reopenContainerLog, bench.client, { containerId: id });
    const rotated = await readFile(`${logPath}.1`, 'utf8');
    await bench.exited(id);
    expect(await readFile(`${logPath}.1`, 'utf8')).toBe(rotated);
    const texts = (rotated + (await bench.log(id))).split('\n').slice(0, -1);
    expect(texts.map((line) => Number(line.split(' ')[3]))).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
  });

  test('cannot be reopened once the container has exited', async () => {
    const id = await bench.shell('true');
    await bench.exited(id);
    await expect(call(bench.client.reopenContainerLog, bench.client, { containerId: id })).rejects.toMatchObject({
      details: expect.stringContaining('not running'),
    });
  });
});

describe('splitLines', () => {
  const KIB16 = 16 * 1024;
  const cut = (text: string): [string[], number] => {
    const { entries, rest } = splitLines(Buffer.from(text));
    return [entries.map((entry) => `${entry.tag}${entry.text.length}`), rest.length];
  };

  test.each([
    ['a line of 16 KiB is whole', `${'x'.repeat(KIB16)}\n`, [`F${KIB16}`], 0],
    ['a longer one is cut', `${'x'.repeat(KIB16 + 5)}\nab\n`, [`P${KIB16}`, 'F5', 'F2'], 0],
    ['an unfinished one is kept', 'ab\ncd', ['F2'], 2],
    ['an unfinished long one is cut already', 'x'.repeat(2 * KIB16 + 1), [`P${KIB16}`, `P${KIB16}`], 1],
  ])('%s', (_name, text, entries, rest) => {
    expect(cut(text)).toEqual([entries, rest]);
  });
});
