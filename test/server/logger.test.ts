import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { createLogger } from '../../bin/logger.ts';
import { AgentError } from '../../machines/agent-error.types.ts';

function logged(
  settings: { format: 'text' | 'json'; verbosity: number },
  write: (log: ReturnType<typeof createLogger>['log']) => void,
) {
  const lines: string[] = [];
  const { log, flush } = createLogger({ ...settings, destination: { write: (line) => void lines.push(line) } });
  write(log);
  flush();
  return lines;
}

test('text is of klog form', () => {
  const [line = ''] = logged({ format: 'text', verbosity: 0 }, (log) => log.warn({ pod: 'a/b' }, 'Pod "x" is late'));
  expect(line).toMatch(/^W\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ "Pod \\"x\\" is late" pod="a\/b"\n$/);
});

test('json is one object a line', () => {
  const [line = ''] = logged({ format: 'json', verbosity: 0 }, (log) => log.info({ pod: 'a/b' }, 'synced'));
  expect(JSON.parse(line)).toMatchObject({ level: 30, msg: 'synced', pod: 'a/b', time: expect.any(Number) });
});

test.each([
  [0, 1],
  [3, 1],
  [4, 2],
  [5, 2],
  [6, 3],
  [10, 3],
])('-v %i lets %i of information, debugging and tracing through', (verbosity, count) => {
  const lines = logged({ format: 'json', verbosity }, (log) => {
    log.info('i');
    log.debug('d');
    log.trace('t');
  });
  expect(lines).toHaveLength(count);
});

test.each(['text', 'json'] as const)('secrets are struck out in %s', (format) => {
  const [line = ''] = logged({ format, verbosity: 0 }, (log) =>
    log.info(
      { auth: { password: 's3cret' }, pull: { token: 's3cret' }, env: ['s3cret'], headers: { a: 's3cret' } },
      'x',
    ),
  );
  expect(line).not.toContain('s3cret');
  expect(line).toContain('***');
});

test('an expected error has its operation and reason, no stack and no cause', () => {
  const err = new AgentError({
    op: 'StopContainer',
    reason: 'UNAVAILABLE',
    message: 'gone',
    transient: true,
    cause: 's3cret',
  });
  const [line = ''] = logged({ format: 'json', verbosity: 0 }, (log) => log.error({ err }, 'failed'));
  expect(JSON.parse(line).err).toEqual({
    op: 'StopContainer',
    reason: 'UNAVAILABLE',
    message: 'gone',
    transient: true,
  });
});

test('a log that cannot be written, behind which the disk is full, ends no agent', () => {
  const script = `
    const { createLogger } = await import(${JSON.stringify(new URL('../../bin/logger.ts', import.meta.url).href)});
    const { log, flush } = createLogger({ format: 'text', verbosity: 0 });
    for (let n = 0; n < 20; n += 1) {
      log.info('a line');
      await new Promise((done) => setTimeout(done, 5));
    }
    flush();
    console.log('alive');`;
  const full = openSync('/dev/full', 'w');
  const run = () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', full],
      timeout: 20_000,
    });
  expect(run().toString()).toBe('alive\n');
  closeSync(full);
});
