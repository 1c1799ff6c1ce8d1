import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../../machines/kubernetes.types.ts';
import { PodSandboxState } from '../../services/cri/proto/generated/cri.ts';
import { listPodSandbox } from '../../services/cri/verbs/list-pod-sandbox.ts';
import { stopPodSandbox } from '../../services/cri/verbs/stop-pod-sandbox.ts';
import { describeKubectl } from '../support/apiserver/kubectl.ts';
import type { Kubectl } from '../support/apiserver/kubectl.ts';
import { testOnDouble } from '../support/cluster.ts';
import { ClusterRig } from '../support/cluster-rig.ts';
import { describeOnContainerd, RUNTIME_MS } from '../support/containerd-tier.ts';
import { BUSYBOX } from '../support/pods.ts';

/** No registry answers there. */
const ABSENT = 'localhost:1/absent:1';
/** Another image that the runtime has. */
const OTHER = BUSYBOX.replace(/:[^:]+$/, ':latest');

/** How many pods are bound at once. */
const MANY = 30;

/** What the API server answers in place of what is asked, in turn. */
const REFUSALS = [
  { code: 409, reason: 'Conflict' },
  { code: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 },
  { code: 500, reason: 'InternalError' },
];

let rig: ClusterRig;
let kubectl: Kubectl;
let node: string;

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
const running = (...pods: string[]) =>
  kubectl.run('wait', '--for=jsonpath={.status.phase}=Running', ...pods.map((name) => `pod/${name}`), '--timeout=50s');

const group = () => {
  beforeAll(async () => {
    rig = await ClusterRig.onContainerd(`cluster${process.pid}`);
    ({ kubectl } = rig);
    node = rig.cluster.nodeName;
  }, RUNTIME_MS + 60_000);

  afterEach(() => rig.empty(), 300_000);

  afterAll(() => rig?.discard(), 180_000);

  test('a pod is created, shown, described and deleted with its grace', async () => {
    const script = 'trap "echo ended >> /starts/ended; exit 0" TERM; sleep 86400 & wait';
    await kubectl.create(rig.pod('web', { script }, { terminationGracePeriodSeconds: 600 }));
    await kubectl.run('wait', '--for=condition=Ready', 'pod/web', '--timeout=50s');
    await rig.agree(['web']);
    expect(await kubectl.run('get', 'pod', 'web', '-o', 'wide')).toMatch(
      new RegExp(`web +1/1 +Running +0 +\\d+[sm]\\S* +10\\.[\\d.]+ +${node} `),
    );
    const text = await rig.until('its events', async () => {
      const described = await kubectl.run('describe', 'pod', 'web');
      return described.includes('Started') && described;
    });
    expect(text).toMatch(/Container ID: +containerd:\/\/[0-9a-f]{64}/);
    await kubectl.run('delete', 'pod', 'web', '--timeout=50s');
    expect(await rig.starts('ended')).toEqual(['ended']);
  }, 120_000);

  test('a container that gave way to an image that cannot be had, and then its sandbox dies, is shown waiting until the next one runs', async () => {
    await kubectl.create(rig.pod('gives-way', {}, { restartPolicy: 'OnFailure' }));
    await kubectl.run('wait', '--for=condition=Ready', 'pod/gives-way', '--timeout=50s');
    await rig.agree(['gives-way']);
    const { metadata } = await kubectl.get<Pod>('pod', 'gives-way');
    const status = '{.status.containerStatuses[0]';
    await kubectl.run('set', 'image', 'pod/gives-way', `main=${ABSENT}`);
    await rig.until('it waits for its image', async () => {
      const reason = await rig.see('pod', 'gives-way', `${status}.state.waiting.reason}`);
      return /ImagePull/.test(reason) && (await rig.processes()).length === 0;
    });
    const sandboxes = await listPodSandbox(rig.cri, { 'io.kubernetes.pod.uid': metadata?.uid ?? '' });
    expect(sandboxes.map(({ state }) => state)).toEqual([PodSandboxState.SANDBOX_READY]);
    for (const { id } of sandboxes) await stopPodSandbox(rig.cri, id);
    // Time in which it may be taken for one that is over.
    await sleep(10_000);
    expect(await rig.see('pod', 'gives-way', `{.status.phase} ${status}.state.terminated.reason}`)).toBe('Running ');
    await kubectl.run('set', 'image', 'pod/gives-way', `main=${OTHER}`);
    await kubectl.run('wait', '--for=condition=Ready', 'pod/gives-way', '--timeout=80s');
    await rig.agree(['gives-way'], { restarted: ['gives-way'] });
    expect(await rig.see('pod', 'gives-way', `${status}.image}`)).toBe(OTHER);
    const query = `watch=1&resourceVersion=${metadata?.resourceVersion}&fieldSelector=metadata.name%3Dgives-way&timeoutSeconds=1`;
    const told = await kubectl.run('get', '--raw', `/api/v1/namespaces/${rig.cluster.namespace}/pods?${query}`);
    const seen = told.split('\n').filter(Boolean).map((line) => (JSON.parse(line) as { object: Pod }).object.status); // prettier-ignore
    const states = seen.map((each) => Object.keys(each?.containerStatuses?.[0]?.state ?? {}).join());
    expect([...new Set(seen.map((each) => each?.phase))]).toEqual(['Running']);
    expect(states.filter((state, i) => state !== states[i - 1])).toEqual(['running', 'waiting', 'running']);
  }, 180_000);

  testOnDouble(
    'the API server goes away in the middle of creates and deletes, and the agent is killed meanwhile',
    async () => {
      const [first, second] = [names('before', 3), names('amid', 3)];
      await rig.create(...first);
      await running(...first);
      await rig.remove(...first.slice(0, 1));
      await rig.create(...second);
      await rig.cluster.double().down();
      await rig.killAgent();
      await sleep(5_000);
      await rig.cluster.double().up();
      await rig.agree([...first.slice(1), ...second]);
    },
    180_000,
  );

  testOnDouble(
    'every watch is cut each second and every tenth write is refused, in turn with 409, 429 and 500, while pods come and go',
    async () => {
      const username = `system:node:${node}`;
      const verbs = ['create', 'update', 'patch', 'delete'];
      const refusing = rig.cluster.double().faults.add({ verbs, username, every: 10, status: REFUSALS });
      const cuts = rig.cutWatches();
      try {
        let there: string[] = [];
        for (let round = 0; round < 2 || refusing.struck() < REFUSALS.length; round++) {
          const coming = names(`faulty${round}`, 3);
          await rig.create(...coming);
          await cuts.struck();
          await rig.remove(...there, ...coming.slice(2));
          there = coming.slice(0, 2);
          await rig.agree(there);
        }
        await rig.empty();
      } finally {
        cuts.stop();
        refusing();
      }
    },
    240_000,
  );

  test('a pod is deleted by force and made again under the same name, while the agent is killed', async () => {
    const script = 'trap "" TERM; while :; do sleep 1; done';
    const keys = names('same', 3);
    for (const key of keys) {
      await kubectl.run('delete', 'pod', 'same', '--force', '--grace-period=0', '--wait=false', '--ignore-not-found');
      await kubectl.create(rig.pod('same', { key, script }, { terminationGracePeriodSeconds: 600 }));
      if (key === keys[0]) await running('same');
      if (key === keys[1]) await rig.killAgent();
    }
    await rig.agree(['same']);
    await kubectl.run('delete', 'pod', 'same', '--force', '--grace-period=0', '--timeout=20s');
  }, 180_000);

  test('B156 the Node is deleted: it is there again with its lease, and its pods run on', async () => {
    await rig.create('stays');
    await running('stays');
    const before = await rig.see('node', node, '{.metadata.uid}');
    await kubectl.run('delete', 'node', node);
    await rig.nodeAfter(before);
    await rig.agree(['stays']);
  }, 180_000);

  test(`B185 ${MANY} pods are bound at once, and the agent is killed in the middle`, async () => {
    const all = names('many', MANY);
    const creating = rig.create(...all);
    await rig.until('some run', async () => (await rig.running()) >= MANY / 5);
    await rig.killAgent();
    await creating;
    await rig.agree(all);
  }, 240_000);
};

// Both, or nothing: kubectl sees what containerd runs.
describeOnContainerd('a node on a real runtime', () => describeKubectl('in a cluster, seen by kubectl', group));
