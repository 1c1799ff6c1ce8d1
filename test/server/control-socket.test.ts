import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createActor, fromPromise, setup } from 'xstate';
import { drawActors, printActors } from '../../bin/ps.ts';
import { createActorTracker } from '../../services/server/actor-tracker.ts';
import { askActors } from '../../services/server/ask-agent.ts';
import { controlSocketPath, serveControlSocket } from '../../services/server/control-socket.ts';
import type { ActorNode } from '../../services/server/server.types.ts';

const tree: ActorNode[] = [
  {
    id: 'syncloop',
    machine: 'syncloop',
    state: 'running',
    since: 1_000,
    children: [
      { id: 'pleg', machine: 'pleg', state: 'watching', since: 1_000, children: [] },
      {
        id: 'pod.1',
        machine: 'pod',
        about: 'default/web',
        state: 'syncing.active',
        since: 61_000,
        children: [{ id: 'container.c', machine: 'container', state: 'running', since: 120_000, children: [] }],
      },
    ],
  },
];

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'statelet-socket-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A socket whose agent was killed. */
function leaveDead(path: string): void {
  const script = `require('fs').mkdirSync(${JSON.stringify(join(folder, 'statelet'))});
    require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', script]);
}

describe('the socket of `statelet ps`', () => {
  test('answers the tree, to its own user only', async () => {
    const path = controlSocketPath(folder);
    const server = await serveControlSocket(path, { actors: () => tree });
    expect(await askActors(path)).toEqual(tree);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'statelet')).mode & 0o777).toBe(0o700);
    const out: string[] = [];
    await printActors({ rootDir: folder, json: true, watch: false, write: (text) => out.push(text) });
    expect(JSON.parse(out.join(''))).toEqual(tree);
    await server.close();
  });

  test('one that another agent answers on is left alone', async () => {
    const path = controlSocketPath(folder);
    const server = await serveControlSocket(path, { actors: () => tree });
    await expect(serveControlSocket(path, { actors: () => [] })).rejects.toMatchObject({ reason: 'AlreadyRunning' });
    expect(await askActors(path)).toEqual(tree);
    await server.close();
  });

  test('one that a killed agent left behind is replaced', async () => {
    const path = controlSocketPath(folder);
    leaveDead(path);
    await expect(askActors(path)).rejects.toMatchObject({ reason: 'NotRunning' });
    const server = await serveControlSocket(path, { actors: () => tree });
    expect(await askActors(path)).toEqual(tree);
    await server.close();
  });

  test.each(['nothing', 'a dead socket'])('of many agents that start at once beside %s, one has it', async (left) => {
    const path = controlSocketPath(folder);
    if (left === 'a dead socket') leaveDead(path);
    const starts = await Promise.allSettled(
      Array.from({ length: 8 }, () => serveControlSocket(path, { actors: () => tree })),
    );
    const running = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const refused = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason as unknown] : []));
    expect(running).toHaveLength(1);
    for (const reason of refused) expect(reason).toMatchObject({ reason: 'AlreadyRunning' });
    await askActors(path);
    expect(readdirSync(join(folder, 'statelet'))).toEqual(['statelet.sock']);
    await running[0]?.close();
    expect(readdirSync(join(folder, 'statelet'))).toEqual([]);
  });

  test('a path that is too long for a socket is refused with the flag that makes it', async () => {
    const error = serveControlSocket(controlSocketPath(join(folder, 'x'.repeat(100))), { actors: () => [] });
    await expect(error).rejects.toMatchObject({
      reason: 'InvalidPath',
      message: expect.stringContaining('--root-dir'),
    });
  });

  test('no agent: the error names the socket', async () => {
    const path = controlSocketPath(folder);
    await expect(askActors(path)).rejects.toMatchObject({
      reason: 'NotRunning',
      message: `${path}: no agent runs with this --root-dir`,
    });
  });
});

test('the tree is drawn with states and ages', () => {
  expect(drawActors(tree, 130_000)).toBe(
    [
      'ACTOR               STATE           AGE',
      'syncloop            running         2m',
      '├─ pleg             watching        2m',
      '└─ pod default/web  syncing.active  69s',
      '   └─ container c   running         10s',
      '',
    ].join('\n'),
  );
});

describe('the tracker', () => {
  test('tells state, since when, and children, effects among them', () => {
    let now = 100;
    const child = setup({}).createMachine({
      id: 'pod',
      context: { namespace: 'default', name: 'web' },
      initial: 'a',
      states: { a: { on: { go: 'b' } }, b: {} },
    });
    const machine = setup({
      actors: { child, look: fromPromise(() => new Promise<void>(() => undefined)) },
    }).createMachine({
      id: 'root',
      type: 'parallel',
      invoke: { src: 'child', id: 'pod:1' },
      states: { x: { initial: 'looking', states: { looking: { invoke: { src: 'look' } } } }, y: {} },
    });
    const tracker = createActorTracker(() => now);
    const actor = createActor(machine, { inspect: tracker.inspect }).start();
    now = 200;
    actor.getSnapshot().children['pod:1']?.send({ type: 'go' });
    now = 300;
    const root = tracker.tree(actor);
    expect(root).toMatchObject({ machine: 'root', state: 'x.looking, y', since: 100 });
    const byMachine = Object.fromEntries(root.children.map((c) => [c.machine, c]));
    expect(byMachine['pod']).toMatchObject({ id: 'pod:1', about: 'default/web', state: 'b', since: 200 });
    expect(byMachine['look']).toMatchObject({ state: 'active', since: 100 });
    actor.stop();
  });
});
