import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listContainers } from '../../services/cri/verbs/list-containers.ts';
import { listPodSandbox } from '../../services/cri/verbs/list-pod-sandbox.ts';
import { PodSandboxState } from '../../services/cri/proto/generated/cri.ts';
import { lines, type Daemon } from '../support/daemon.ts';
import { commandsWith, processesWith, type EmbeddedProcess } from '../support/embedded-process.ts';
import { embeddedNode } from '../support/node.ts';
import { FOREVER, shellPod } from '../support/pods.ts';

let node: Awaited<ReturnType<typeof embeddedNode>>;
let runtime: EmbeddedProcess;
let daemon: Daemon;
const GRACE = { terminationGracePeriodSeconds: 8 };
/** Each container that starts writes a line here, by its pod's name. */
const starts = (name: string) => lines(join(daemon.directory, 'starts', name));

beforeAll(async () => {
  node = await embeddedNode();
  ({ runtime, daemon } = node);
}, 60_000);

afterAll(() => node?.discard(), 60_000);

afterEach(() => daemon.empty(), 60_000);

/** A pod whose container notes that it started, and runs. */
function noted(name: string, script = FOREVER) {
  return shellPod(
    name,
    `echo $$ >> /starts/${name}; : ${name}; ${script}`,
    { volumes: [{ name: 'starts', hostPath: { path: join(daemon.directory, 'starts'), type: 'DirectoryOrCreate' } }] },
    { volumeMounts: [{ name: 'starts', mountPath: '/starts' }] },
  );
}

async function containerIds(names: string[]): Promise<Record<string, string | undefined>> {
  const pods = await daemon.pods();
  return Object.fromEntries(names.map((name) => [name, pods.get(name)?.status.containerStatuses?.[0]?.containerID]));
}

test('B072 an agent that is stopped and started again leaves every container as it is', async () => {
  const names = ['keep-a', 'keep-b', 'keep-c'];
  for (const name of names) await daemon.put(noted(name));
  for (const name of names) await daemon.ready(name);
  const before = await containerIds(names);
  const since = daemon.log.length;
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  await daemon.start();
  for (const name of names) {
    const status = await daemon.ready(name);
    expect(status.containerStatuses?.[0]).toMatchObject({ restartCount: 0, lastState: {} });
    expect(await starts(name)).toHaveLength(1);
  }
  expect(await containerIds(names)).toEqual(before);
  expect(daemon.log.slice(since)).not.toMatch(/Killing|"Created"|"Started"/);
});

test('B071 what was removed while the agent was away is ended, and the rest runs on', async () => {
  const names = Array.from({ length: 6 }, (_, i) => `away-${i}`);
  for (const name of names) await daemon.put(noted(name));
  for (const name of names) await daemon.ready(name);
  const kept = names.slice(3);
  const before = await containerIds(kept);
  await daemon.kill9();
  for (const name of names.slice(0, 3)) await daemon.remove(name);
  await daemon.start();
  const left = () => listPodSandbox(runtime.cri, {});
  await daemon.until('three sandboxes are left', async () => (await left()).length === 3);
  for (const name of kept) await daemon.ready(name);
  expect(await containerIds(kept)).toEqual(before);
  for (const name of names) expect(await starts(name)).toHaveLength(1);
});

test('B092 a manifest that changes while the agent is away: the old pod ends before the new one starts', async () => {
  const trap = 'trap "sleep 1; echo old ended >> /starts/order; exit 0" TERM; sleep 86400 & wait';
  await daemon.put(noted('order', trap));
  await daemon.ready('order');
  await daemon.stop();
  await daemon.put(noted('order', `echo new began >> /starts/order; ${FOREVER}`));
  await daemon.start();
  await daemon.until('the new one runs', async () => (await starts('order')).includes('new began'));
  expect((await starts('order')).filter((line) => /[a-z]/.test(line))).toEqual(['old ended', 'new began']);
});

test('B071 kill -9 at any moment while twenty pods start: no second copy and no orphan', async () => {
  const ROUNDS = 10;
  for (let round = 0; round < ROUNDS; round += 1) {
    const names = Array.from({ length: 20 }, (_, i) => `round${round}-pod${i}`);
    for (const name of names) await daemon.put(noted(name));
    // Spread over the time that the starts take, from nothing begun to nearly all there.
    await sleep(round * 90 + Math.random() * 90);
    await daemon.kill9();
    await daemon.start();
    await daemon.until('all run', async () => {
      const pods = [...(await daemon.pods()).values()];
      return pods.length === names.length && pods.every(({ status }) => status.phase === 'Running');
    });
    const sandboxes = await listPodSandbox(runtime.cri, {});
    expect(sandboxes.filter(({ state }) => state === PodSandboxState.SANDBOX_READY)).toHaveLength(names.length);
    const running = await listContainers(runtime.cri, {});
    expect(new Set(running.map(({ podSandboxId }) => podSandboxId)).size).toBe(running.length);
    const commands = [...(await commandsWith(`: round${round}-pod`)).values()];
    for (const name of names) {
      expect([name, (await starts(name)).length]).toEqual([name, 1]);
      expect([name, commands.filter((command) => command.includes(`: ${name};`)).length]).toEqual([name, 1]);
    }
    await daemon.empty();
    expect(await listPodSandbox(runtime.cri, {})).toEqual([]);
    expect(await processesWith(`: round${round}-pod`)).toEqual([]);
  }
}, 240_000);

test('a pod that was being stopped when the agent was killed gets the rest of its grace from the next, not the whole', async () => {
  const stubborn = 'trap "date +%s%3N >> /starts/stubborn-term" TERM; while :; do sleep 0.2; done';
  await daemon.put({ ...noted('stubborn', stubborn), spec: { ...noted('stubborn', stubborn).spec, ...GRACE } });
  await daemon.ready('stubborn');
  await daemon.remove('stubborn');
  const termed = () => starts('stubborn-term');
  await daemon.until('it is told to stop', async () => (await termed()).length > 0);
  await daemon.kill9();
  await sleep(3_000);
  await daemon.start();
  const over = async () => (await processesWith(': stubborn;')).length === 0;
  await daemon.until('its process is gone', over, 60_000);
  const [first = NaN, second = NaN] = (await termed()).map(Number);
  expect(second - first).toBeGreaterThanOrEqual(3_000);
  // The whole grace given anew would end later than this.
  expect(Date.now() - second).toBeLessThan(GRACE.terminationGracePeriodSeconds * 1000);
}, 120_000);

test('a manifest that is broken while the agent is away ends nothing, and is told of', async () => {
  await daemon.put(noted('spoilt'));
  await daemon.ready('spoilt');
  const before = await containerIds(['spoilt']);
  await daemon.until('its last good version is kept', async () =>
    (await readdir(join(daemon.rootDir, 'statelet/manifests')).catch(() => [])).some((name) => name.endsWith('.json')),
  );
  await daemon.kill9();
  await daemon.putText('spoilt.yaml', 'kind: [');
  await daemon.start();
  await daemon.ready('spoilt');
  await daemon.until('it is told of', () => daemon.log.includes('its last good version stays in force'));
  expect(await containerIds(['spoilt'])).toEqual(before);
  expect(await starts('spoilt')).toHaveLength(1);
});
