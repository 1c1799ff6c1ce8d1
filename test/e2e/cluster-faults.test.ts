import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Pod } from '../../machines/kubernetes.types.ts';
import { describeKubectl } from '../support/apiserver/kubectl.ts';
import type { Kubectl } from '../support/apiserver/kubectl.ts';
import { testOnDouble } from '../support/cluster.ts';
import { ClusterRig, NO_PRESSURE } from '../support/cluster-rig.ts';
import { comparesAll } from '../support/compares-all.ts';
import { emptyRuntime } from '../support/empty-runtime.ts';

/** Pods that are bound at once; 300 take some minutes on two cores. */
const MANY = Number(process.env['STATELET_TEST_PODS'] ?? 60);

/** How long the API server is away, ms. */
const OUTAGE_MS = 60_000;

let rig: Awaited<ReturnType<typeof ClusterRig.onEmbedded>>;
let kubectl: Kubectl;
let node: string;

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
const running = (...pods: string[]) =>
  kubectl.run('wait', '--for=jsonpath={.status.phase}=Running', ...pods.map((name) => `pod/${name}`), '--timeout=50s');
describeKubectl('an agent whose cluster has faults', () => {
  beforeAll(async () => {
    rig = await ClusterRig.onEmbedded({ maxPods: 400, nodeStatusUpdateFrequency: '2s' });
    ({ kubectl } = rig);
    node = rig.cluster.nodeName;
  }, 180_000);

  afterEach(() => rig.empty(), 300_000);

  afterAll(() => rig?.discard(), 120_000);

  comparesAll(() => rig);

  testOnDouble(
    'B084 the API server goes away in the middle of creates and deletes, and the agent is killed meanwhile',
    async () => {
      const [first, second] = [names('before', 6), names('amid', 6)];
      await rig.create(...first);
      await kubectl.create(
        rig.pod('ends', { script: 'until test -e /starts/go; do sleep 0.2; done; exit 3' }, { restartPolicy: 'Never' }),
      );
      await running(...first, 'ends');
      await rig.remove(...first.slice(0, 3));
      await rig.create(...second);
      const { double } = rig.cluster;
      const endsIs = async () => (await kubectl.get<Pod>('pod', 'ends')).status?.containerStatuses?.[0]?.state ?? {};
      const { startedAt = '' } = (await endsIs()).running ?? {};
      await double().down();
      const told = Date.now();
      await rig.note('go');
      await rig.until('it has ended', async () => !(await rig.processes()).includes('ends'));
      const over = Date.now();
      await sleep(10_000);
      await rig.killAgent();
      await sleep(10_000);
      // What the agent had heard of runs, whatever became of the server.
      expect(await rig.processes()).toEqual(expect.arrayContaining(first.slice(3)));
      expect((await rig.processes()).filter((key) => key === 'ends')).toEqual([]);
      await double().up();
      await rig.agree([...first.slice(3), ...second, 'ends']);
      expect(await rig.see('pod', 'ends', '{.status.phase}')).toBe('Failed');
      const { exitCode, ...times } = (await endsIs()).terminated ?? { exitCode: -1 };
      expect([exitCode, times.startedAt]).toEqual([3, startedAt]);
      // Of its end, not of the server’s return or of the next agent’s first look; the API has whole seconds.
      const finished = Date.parse(times.finishedAt ?? '');
      expect(finished).toBeGreaterThan(told - 1000);
      expect(finished).toBeLessThanOrEqual(over + 1000);
    },
    240_000,
  );

  test('the runtime dies: the Node says so after its 30 s, its pods go on, and it is Ready when the runtime is back', async () => {
    await rig.create('goes-on');
    await running('goes-on');
    await rig.agree(['goes-on']);
    const before = await rig.nodeEvents();
    await rig.runtime.end('SIGKILL');
    await kubectl.run('wait', '--for=condition=Ready=False', `node/${node}`, '--timeout=80s');
    expect(await rig.nodeConditions()).toEqual({
      ...NO_PRESSURE,
      Ready: ['False', 'KubeletNotReady', 'container runtime is down'],
    });
    expect(await kubectl.run('get', 'node', node, '--no-headers')).toMatch(new RegExp(`^${node} +NotReady `));
    expect(await rig.processes()).toEqual(['goes-on']);
    await rig.runtime.start();
    await kubectl.run('wait', '--for=condition=Ready', `node/${node}`, '--timeout=80s');
    expect(await rig.nodeConditions()).toEqual({
      ...NO_PRESSURE,
      Ready: ['True', 'KubeletReady', 'kubelet is posting ready status'],
    });
    await rig.until('its events tell of both', async () => {
      const now = await rig.nodeEvents();
      const more = (reason: string) => (now.get(reason)?.count ?? 0) - (before.get(reason)?.count ?? 0);
      return more('NodeNotReady') === 1 && more('NodeReady') === 1;
    });
    await rig.agree(['goes-on']);
  }, 240_000);

  testOnDouble(
    'every watch is cut each second, while pods come and go and the agent is killed',
    async () => {
      const cuts = rig.cutWatches();
      try {
        let there: string[] = [];
        for (const round of [0, 1, 2]) {
          const coming = names(`cut${round}`, 4);
          await rig.create(...coming);
          await cuts.struck();
          await running(...coming.slice(0, 2));
          if (round === 1) await rig.killAgent();
          const going = [...there, ...coming.slice(2)];
          await rig.remove(...going);
          await cuts.struck();
          there = coming.slice(0, 2);
          await rig.agree(there);
        }
      } finally {
        cuts.stop();
      }
    },
    240_000,
  );

  testOnDouble(
    'B084 every watch is cut each second, and then the API server is away for a minute, amid creates and deletes',
    async () => {
      const [stay, go, late, next] = [names('stays', 4), names('goes', 4), names('late', 4), names('next', 4)];
      const ends = rig.pod('ten', { script: 'sleep 10' }, { restartPolicy: 'Never' });
      const cuts = rig.cutWatches();
      try {
        await rig.create(...stay, ...go);
        await running(...stay, ...go);
        await kubectl.create(ends);
        await running('ten');
        await cuts.struck();
        await rig.remove(...go);
        await rig.create(...late);
        await rig.cluster.double().down();
        const from = Date.now();
        await rig.until('it has ended', async () => !(await rig.processes()).includes('ten'));
        const over = Date.now();
        await sleep(from + OUTAGE_MS - over);
        expect(await rig.processes()).toEqual(expect.arrayContaining(stay));
        await rig.cluster.double().up();
        await rig.create(...next);
        await rig.remove(...stay.slice(2), ...late.slice(2));
        await rig.agree([...stay.slice(0, 2), ...late.slice(0, 2), ...next, 'ten']);
        await cuts.struck();
        const { phase, containerStatuses } = (await kubectl.get<Pod>('pod', 'ten')).status ?? {};
        const { startedAt = '', finishedAt = '' } = containerStatuses?.[0]?.state?.terminated ?? {};
        expect(phase).toBe('Succeeded');
        const [began, finished] = [startedAt, finishedAt].map((time) => Date.parse(time));
        expect(finished).toBeGreaterThanOrEqual((began ?? NaN) + 9_000);
        expect(finished).toBeLessThanOrEqual(over + 1000);
      } finally {
        cuts.stop();
      }
    },
    300_000,
  );

  for (const [code, reason] of [
    [409, 'Conflict'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
  ] as const)
    testOnDouble(
      `every tenth write is refused with ${code}`,
      async () => {
        let struck: number;
        const off = rig.cluster.double().faults.add({
          verbs: ['create', 'update', 'patch', 'delete'],
          username: `system:node:${node}`,
          every: 10,
          status: { code, reason, ...(code === 429 && { retryAfterSeconds: 1 }) },
        });
        try {
          const some = names(`refused${code}`, 8);
          await rig.create(...some);
          await running(...some);
          await rig.remove(...some.slice(4));
          if (code === 500) await rig.killAgent();
          await rig.agree(some.slice(0, 4));
          await rig.empty();
        } finally {
          struck = off();
        }
        expect(struck).toBeGreaterThan(3);
      },
      240_000,
    );

  test('B095 B156 the Node is deleted, under the agent and while it is killed: it is there again with its lease and its mirror pods', async () => {
    await rig.create('stays');
    await rig.putStatic('st');
    await rig.agree(['stays', `st-${node}`]);
    for (const isKilled of [false, true]) {
      const before = await rig.see('node', node, '{.metadata.uid}');
      if (isKilled) await rig.daemon.kill9();
      await kubectl.run('delete', 'node', node);
      if (isKilled) await rig.daemon.start();
      const uid = await rig.nodeAfter(before);
      await rig.until('the mirror pod is the new Node’s', async () => {
        const owner = await rig.see('pod', `st-${node}`, '{.metadata.ownerReferences[*].uid}');
        return owner === uid;
      });
      await rig.agree(['stays', `st-${node}`]);
    }
  }, 240_000);

  test('pods that are deleted and made again under the same name at once: the old ends before the new begins', async () => {
    const script = (key: string) =>
      `trap "echo ended ${key} >> /starts/order; exit 0" TERM; echo began ${key} >> /starts/order; sleep 86400 & wait`;
    const keys = names('same', 4);
    for (const [i, key] of keys.entries()) {
      await kubectl.run('delete', 'pod', 'same', '--force', '--grace-period=0', '--wait=false', '--ignore-not-found');
      await kubectl.create(rig.pod('same', { key, script: script(key) }));
      // The first runs, the second is as it comes, the third is one that the agent was killed over.
      if (i === 2) await rig.killAgent();
      if (i === 0) await running('same');
    }
    await rig.agree(['same']);
    const order = await rig.starts('order');
    expect(order.at(-1)).toBe(`began ${keys.at(-1)}`);
    for (const [i, line] of order.entries())
      expect([i, line.split(' ')[0]]).toEqual([i, i % 2 === 0 ? 'began' : 'ended']);
    for (const key of keys) expect((await rig.starts(key)).length).toBeLessThanOrEqual(1);
  }, 240_000);

  test('pods that are deleted with their grace and made again as soon as the name is free: the old ends before the new begins', async () => {
    const script = (key: string) =>
      `trap "echo ended ${key} >> /starts/patient; exit 0" TERM; echo began ${key} >> /starts/patient; sleep 86400 & wait`;
    const keys = names('patient', 5);
    for (const [i, key] of keys.entries()) {
      await rig.until('the name is free', async () => {
        const { code, stderr } = await kubectl.try(['create', '-f', '-'], JSON.stringify(rig.pod('patient', { key, script: script(key) }))); // prettier-ignore
        if (code !== 0 && !/AlreadyExists/.test(stderr)) throw new Error(stderr);
        return code === 0;
      });
      if (key === keys.at(-1)) break;
      // Some are deleted when they run, some as they come, and the agent is killed over one of each.
      if (i % 2 === 0) await running('patient');
      await kubectl.run('delete', 'pod', 'patient', '--grace-period=1', '--wait=false');
      if (i === 1 || i === 2) await rig.killAgent();
    }
    await rig.agree(['patient']);
    const order = await rig.starts('patient');
    expect(order.at(-1)).toBe(`began ${keys.at(-1)}`);
    for (const [i, line] of order.entries()) expect([i, line.split(' ')[0]]).toEqual([i, i % 2 === 0 ? 'began' : 'ended']); // prettier-ignore
    for (const key of keys) expect((await rig.starts(key)).length).toBeLessThanOrEqual(1);
    for (const key of [keys[0], keys[2]]) expect(order).toContain(`ended ${key}`);
  }, 240_000);

  test('B004 a force delete of what ignores its end, and the agent is killed over it', async () => {
    const script = 'trap "" TERM; while :; do sleep 1; done';
    const spec = { terminationGracePeriodSeconds: 600 };
    const some = names('forced', 4);
    await kubectl.create(...some.map((name) => rig.pod(name, { script }, spec)));
    await running(...some);
    await rig.remove(...some.slice(2));
    await kubectl.run('delete', 'pod', ...some, '--force', '--grace-period=0', '--wait=false');
    await rig.killAgent();
    await rig.agree([]);
  }, 240_000);

  testOnDouble(
    'B074 B100 the API server is away when the node boots: static pods and the pods known before start',
    async () => {
      await rig.create('known-a', 'known-b');
      await running('known-a', 'known-b');
      await rig.agree(['known-a', 'known-b']);
      await rig.daemon.kill9();
      await rig.cluster.double().down();
      // As after a reboot: nothing of the runtime is left.
      await emptyRuntime(rig.cri);
      await rig.putStatic('boot');
      await rig.daemon.start();
      await rig.until('all run', async () => (await rig.processes()).join() === 'boot,known-a,known-b');
      await rig.cluster.double().up();
      await rig.agree(['known-a', 'known-b', `boot-${node}`], { restarted: ['known-a', 'known-b'] });
    },
    240_000,
  );

  test(`B185 ${MANY} pods are bound at once, and the agent is killed in the middle`, async () => {
    const all = names('many', MANY);
    const creating = rig.create(...all);
    await rig.until('a third runs', async () => (await rig.running()) >= MANY / 3);
    await rig.killAgent();
    await creating;
    await rig.agree(all);
  }, 600_000);
});
