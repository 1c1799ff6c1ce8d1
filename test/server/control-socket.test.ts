import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { drawActors, printActors } from '../../bin/ps.ts';
import type { Explanation, Target } from '../../services/explain/explain.types.ts';
import { createHistory } from '../../services/live/history.ts';
import type { LiveActor, Transition } from '../../services/live/live.types.ts';
import { askAgent } from '../../services/server/ask-agent.ts';
import { controlSocketPath, serveControlSocket } from '../../services/server/control-socket.ts';
import type { ActorNode } from '../../services/server/server.types.ts';

const actor = (
  sessionId: string,
  more: Partial<LiveActor> & Pick<LiveActor, 'id' | 'name' | 'machine' | 'state' | 'since'>,
) => ({
  ...{ sessionId, value: more.state, status: 'active' as const, tags: [], effects: [], timers: [] },
  ...more,
});
const actors: LiveActor[] = [
  actor('x:0', { id: 'syncloop', name: 'syncloop', machine: 'syncloop', state: 'running', since: 1_000 }),
  actor('x:1', { id: 'pleg', name: 'pleg', machine: 'pleg', parent: 'x:0', state: 'watching', since: 1_000 }),
  actor('x:2', {
    ...{ id: 'pod.1', name: 'pod default/web', machine: 'pod', parent: 'x:0', state: 'syncing.active', since: 61_000 },
    about: { kind: 'pod', namespace: 'default', name: 'web', uid: '1' },
  }),
  actor('x:3', {
    ...{
      id: 'container.c',
      name: 'container default/web/main',
      machine: 'container',
      parent: 'x:2',
      state: 'starting',
      since: 120_000,
    },
    effects: [{ src: 'startContainer', id: '0.container.starting', began: 121_000 }],
  }),
];
const step = (name: string): Transition => ({
  ...{ at: 1, actor: name, machine: 'pod', sessionId: 'x:2', to: 'gone', event: 'pod.removed' },
  cause: { by: 'userDelete' },
});
const steps = ['syncloop', 'pod default/web', 'container default/web/main', 'pod default/web2'].map(step);
const history = createHistory({ transitions: 1, actors: steps.length });
for (const done of steps) {
  history.began(done.actor);
  history.add(done);
}
const live = {
  actors: () => actors,
  history: history.of,
};

const explain = (target: Target): Explanation => ({
  ...{ kind: target.kind, name: JSON.stringify(target), found: target.kind !== 'node', headline: 'so it is.' },
  ...{ trouble: false, places: [], waitsFor: [], next: [], whyNot: [], steps: [], similar: [] },
});

const start: ActorNode = {
  ...{ id: '0.container.starting', machine: 'startContainer', isEffect: true, state: 'active', since: 121_000 },
  children: [],
};
const container = { id: 'container.c', machine: 'container', state: 'starting', since: 120_000, children: [start] };
const pod = { id: 'pod.1', machine: 'pod', about: 'default/web', state: 'syncing.active', since: 61_000 };
const tree: ActorNode[] = [
  {
    ...{ id: 'syncloop', machine: 'syncloop', state: 'running', since: 1_000 },
    children: [
      { id: 'pleg', machine: 'pleg', state: 'watching', since: 1_000, children: [] },
      { ...pod, children: [container] },
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
    const server = await serveControlSocket(path, { live, explain });
    expect(await askAgent(path, '/actors')).toEqual(tree);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'statelet')).mode & 0o777).toBe(0o700);
    const out: string[] = [];
    await printActors({ rootDir: folder, json: true, watch: false, write: (text) => out.push(text) });
    expect(JSON.parse(out.join(''))).toEqual(tree);
    await server.close();
  });

  test.each([
    ['pod=default/web', { kind: 'pod', namespace: 'default', name: 'web' }],
    ['container=default/web/main', { kind: 'container', namespace: 'default', name: 'web', container: 'main' }],
    ['node', { kind: 'node' }],
  ])('explains what is asked for: %s', async (query, target) => {
    const path = controlSocketPath(folder);
    const server = await serveControlSocket(path, { live, explain });
    expect(await askAgent(path, `/explain?${query}`)).toMatchObject({ name: JSON.stringify(target) });
    await server.close();
  });

  test('tells the asker of an explanation that fails, and answers on', async () => {
    const path = controlSocketPath(folder);
    const server = await serveControlSocket(path, {
      live,
      explain: () => {
        throw new Error('no words for that');
      },
    });
    await expect(askAgent(path, '/explain?node')).rejects.toThrow(/could not answer.*no words for that/);
    expect(await askAgent(path, '/live')).toEqual(actors);
    await server.close();
  });

  test.each(['', 'pod=web', 'pod=', 'container=a/b', 'pod=a/b/c/d'])('explains nothing for "%s"', async (query) => {
    const path = controlSocketPath(folder);
    const server = await serveControlSocket(path, { live, explain });
    await expect(askAgent(path, `/explain?${query}`)).rejects.toMatchObject({ reason: 'NotFound' });
    await server.close();
  });

  test('one that another agent answers on is left alone', async () => {
    const path = controlSocketPath(folder);
    const server = await serveControlSocket(path, { live, explain });
    await expect(serveControlSocket(path, { live, explain })).rejects.toMatchObject({ reason: 'AlreadyRunning' });
    expect(await askAgent(path, '/actors')).toEqual(tree);
    await server.close();
  });

  test('one that a killed agent left behind is replaced', async () => {
    const path = controlSocketPath(folder);
    leaveDead(path);
    await expect(askAgent(path, '/actors')).rejects.toMatchObject({ reason: 'NotRunning' });
    const server = await serveControlSocket(path, { live, explain });
    expect(await askAgent(path, '/actors')).toEqual(tree);
    await server.close();
  });

  test.each(['nothing', 'a dead socket'])('of many agents that start at once beside %s, one has it', async (left) => {
    const path = controlSocketPath(folder);
    if (left === 'a dead socket') leaveDead(path);
    const starts = await Promise.allSettled(
      Array.from({ length: 8 }, () => serveControlSocket(path, { live, explain })),
    );
    const running = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const refused = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason as unknown] : []));
    expect(running).toHaveLength(1);
    for (const reason of refused) expect(reason).toMatchObject({ reason: 'AlreadyRunning' });
    await askAgent(path, '/actors');
    expect(readdirSync(join(folder, 'statelet'))).toEqual(['statelet.sock']);
    await running[0]?.close();
    expect(readdirSync(join(folder, 'statelet'))).toEqual([]);
  });

  test('a path that is too long for a socket is refused with the flag that makes it', async () => {
    const error = serveControlSocket(controlSocketPath(join(folder, 'x'.repeat(100))), { live, explain });
    await expect(error).rejects.toMatchObject({
      reason: 'InvalidPath',
      message: expect.stringContaining('--root-dir'),
    });
  });

  test('no agent: the error names the socket', async () => {
    const path = controlSocketPath(folder);
    await expect(askAgent(path, '/actors')).rejects.toMatchObject({
      reason: 'NotRunning',
      message: `${path}: no agent runs with this --root-dir`,
    });
  });
});

test('the socket answers the actors with all they show, and what was done by one or about one pod', async () => {
  const path = controlSocketPath(folder);
  const named = (target: Target) => ({ ...explain(target), name: 'default/web2' });
  const server = await serveControlSocket(path, { live, explain: named });
  const ask = (url: string) => askAgent(path, url);
  expect(await ask('/live')).toEqual(actors);
  expect(await ask('/history')).toEqual(steps);
  expect(await ask('/history?actor=syncloop')).toEqual([steps[0]]);
  expect(await ask('/history?actor=node')).toEqual([steps[0]]);
  expect(await ask(`/history?actor=${encodeURIComponent('pod default/web')}`)).toEqual([steps[1], steps[2]]);
  expect(await ask(`/history?actor=${encodeURIComponent('container default/web/main')}`)).toEqual([steps[2]]);
  // A static pod by the name in its manifest, as it is explained.
  expect(await ask(`/history?actor=${encodeURIComponent('pod default/we')}`)).toEqual([steps[3]]);
  await expect(ask('/secrets')).rejects.toMatchObject({ reason: 'NotFound' });
  await expect(ask('//')).rejects.toMatchObject({ reason: 'NotFound' });
  await server.close();
});

test('the tree is drawn with states and ages, calls in flight among them', () => {
  expect(drawActors(tree, 130_000)).toBe(
    [
      'ACTOR                    STATE           AGE',
      'syncloop                 running         2m',
      '├─ pleg                  watching        2m',
      '└─ pod default/web       syncing.active  69s',
      '   └─ container c        starting        10s',
      '      └─ startContainer  active          9s',
      '',
    ].join('\n'),
  );
});
