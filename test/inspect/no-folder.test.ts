import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Logger } from 'pino';
import { createActor, createMachine } from 'xstate';
import type { LoadedConfig } from '../../bin/config/load-config.ts';
import { inspectAgent } from '../../bin/inspect.ts';
import { createLiveSystem } from '../../services/live/live-system.ts';

test('where the token cannot be written, the agent goes on without its inspector and says so once', async () => {
  const rootDir = await mkdtemp(join(tmpdir(), 'statelet-inspect-'));
  await writeFile(join(rootDir, 'statelet'), 'a file in place of the folder');
  const errors: string[] = [];
  const inspector = await inspectAgent(
    { flags: { rootDir } } as LoadedConfig,
    { host: '127.0.0.1', port: 0, write: false },
    {
      agent: createActor(createMachine({})),
      live: createLiveSystem({ now: Date.now }),
      explain: () => {
        throw new Error('nobody asks');
      },
      nodeName: 'testnode',
      startedAt: 1,
    },
    { error: (message: string) => errors.push(message) } as unknown as Logger,
  );
  await rm(rootDir, { recursive: true });
  expect(inspector).toBeUndefined();
  expect(errors).toEqual([
    expect.stringMatching(
      new RegExp(
        `^inspector: ${rootDir}/statelet/inspect.token: E[A-Z]+: .*; the agent goes on without its inspector$`,
      ),
    ),
  ]);
});
