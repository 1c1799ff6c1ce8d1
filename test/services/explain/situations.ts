import type { Target } from '../../../services/explain/explain.types.ts';
import type { ExplainWorld } from './explain-world.ts';

/** One thing that keeps a pod, a container or the node where it is, and what is to be said of it. */
export interface Situation {
  what: string;
  cluster?: boolean;
  /** Makes it; the agent is started by it. */
  make(it: ExplainWorld): Promise<void>;
  /** A pod of the namespace default where it is a name. */
  about?: string | Target;
  headline: readonly string[];
  waitsFor?: readonly string[];
}

const init = (command: string[], more: object = {}) => ({
  initContainers: [{ name: 'setup', image: 'present:1', imagePullPolicy: 'IfNotPresent', command, ...more }],
});

/** Puts the pod web, starts the agent and waits. */
const web =
  (ms: number, spec: object = {}, container: object = {}, before: (it: ExplainWorld) => void = () => undefined) =>
  async (it: ExplainWorld) => {
    before(it);
    it.put('web', spec, container);
    it.start();
    await it.wait(ms);
  };
/** The pod web runs; then something happens. */
const running =
  (after: (it: ExplainWorld) => void, ms: number, spec: object = {}, container: object = {}) =>
  async (it: ExplainWorld) => {
    await web(5_000, spec, container)(it);
    after(it);
    await it.wait(ms);
  };
const ofApi =
  (ms: number, after: (it: ExplainWorld) => void, later: number, spec: object = {}, container: object = {}) =>
  async (it: ExplainWorld) => {
    it.start();
    await it.wait(5_000);
    it.create('web', spec, container);
    await it.wait(ms);
    after(it);
    await it.wait(later);
  };

export const SITUATIONS: readonly Situation[] = [
  { what: 'nothing is wrong', make: web(5_000), headline: ['default/web-node-1 runs, and nothing is wrong with it.'] },
  {
    what: 'an image that is missing, just now',
    make: web(600, {}, { image: 'absent:1' }, ({ world }) => world.runtime.absentImages.add('absent:1')),
    headline: ['is not Running: container app waits with ErrImagePull (absent:1: not found)'],
    waitsFor: ['The image of container app:'],
  },
  {
    what: 'an image that is missing, in back-off',
    make: web(5_000, {}, { image: 'absent:1' }, ({ world }) => world.runtime.absentImages.add('absent:1')),
    headline: [
      'is not Running: container app waits with ImagePullBackOff',
      'absent:1: not found',
      'the back-off before the next pull is over in 5 s',
    ],
    waitsFor: ['The image of container app: the back-off before the next pull is over in 5 s.'],
  },
  {
    what: 'an image that must not be pulled',
    make: web(5_000, {}, { image: 'far:1', imagePullPolicy: 'Never' }),
    headline: [
      'container app waits with ErrImageNeverPull',
      '"far:1" is not present with pull policy of Never',
      'is over in 5 s',
    ],
  },
  {
    what: 'a readiness probe that fails',
    make: async (it) => {
      it.world.probe = () => false;
      await web(25_000, {}, { readinessProbe: { exec: { command: ['test'] }, failureThreshold: 2 } })(it);
    },
    headline: [
      'does not run as it is to: container app runs and is not ready: its readiness probe failed 3 times in a row',
      'the rest of the period is over in 5 s',
    ],
  },
  {
    what: 'a container that is not asked for its readiness yet',
    make: web(5_000, {}, { readinessProbe: { exec: { command: ['test'] }, initialDelaySeconds: 30 } }),
    headline: [
      'container app runs and is not ready: its readiness probe has not succeeded yet; the initial delay is over in 25 s',
    ],
  },
  {
    what: 'a container that has not started by its startup probe',
    make: async (it) => {
      it.world.probe = () => false;
      await web(5_000, {}, { startupProbe: { exec: { command: ['test'] }, failureThreshold: 30 } })(it);
    },
    headline: ['container app runs and has not started yet: its startup probe failed'],
  },
  {
    what: 'a liveness probe that failed once',
    make: async (it) => {
      it.world.probe = () => false;
      await web(5_000, {}, { livenessProbe: { exec: { command: ['test'] } } })(it);
    },
    headline: ['container app runs and is to be restarted after 2 more failures: its liveness probe failed'],
  },
  {
    what: 'a container whose liveness probe failed',
    make: async (it) => {
      it.world.probe = () => false;
      const livenessProbe = { exec: { command: ['test'] }, periodSeconds: 1, failureThreshold: 2 };
      await web(5_000, {}, { livenessProbe, command: ['run', 'ignoreTerm'] })(it);
    },
    headline: ['container app was asked to stop', 'because its liveness probe failed, and has not ended yet'],
  },
  {
    what: 'a container whose probes all succeed',
    make: web(
      30_000,
      {},
      { readinessProbe: { exec: { command: ['test'] } }, livenessProbe: { exec: { command: ['test'] } } },
    ),
    headline: ['runs, and nothing is wrong with it'],
  },
  {
    what: 'an image of a bad name',
    make: web(5_000, {}, { image: 'a b:c!' }),
    headline: ['container app waits with InvalidImageName', 'a b:c!'],
  },
  {
    what: 'a manifest that cannot be read',
    make: async (it) => {
      it.world.manifests.set('/manifests/web.yaml', '{');
      it.start();
      await it.wait(3_000);
    },
    headline: ['default/web is not taken from its manifest: /manifests/web.yaml: line 1: Flow map must end'],
  },
  {
    what: 'a name that is no name',
    make: web(5_000),
    about: 'a(',
    headline: ['The agent has no pod default/a('],
  },
  {
    what: 'a name that only stands in what is wrong with a manifest',
    make: async (it) => {
      it.world.manifests.set('/manifests/shop.yaml', '{"apiVersion":"v1","kind":"Pod","spec":{"x":1}}');
      it.start();
      await it.wait(3_000);
    },
    about: 'spec',
    headline: [
      'The agent has no pod default/spec',
      'a manifest that cannot be read may be the one: /manifests/shop.yaml: ',
    ],
  },
  {
    what: 'a manifest with the UID of another',
    make: async (it) => {
      it.put('web', {}, {}, { uid: 'same' });
      it.start();
      await it.wait(5_000);
      it.world.put('/manifests/zz.yaml', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'twin', uid: 'same' },
        spec: { containers: [{ name: 'app', image: 'present:1' }] },
      });
      await it.wait(5_000);
    },
    about: 'twin',
    headline: ['default/twin is not taken from its manifest: Error validating pod twin-node-1_default(same)'],
  },
  {
    what: 'a pod of the API with a field that is wrong',
    cluster: true,
    make: ofApi(3_000, () => undefined, 0, { volumes: [{ name: 'data', rbd: {} }] }),
    headline: ['default/web is not taken in as the API has it: spec.volumes[0].rbd: '],
  },
  {
    what: 'a name close to that of a pod of the API with a field that is wrong',
    cluster: true,
    make: ofApi(3_000, () => undefined, 0, { volumes: [{ name: 'data', rbd: {} }] }),
    about: 'wbe',
    headline: ['The agent has no pod default/wbe; there is default/web.'],
  },
  {
    what: 'a container whose own name is left out',
    make: web(5_000),
    about: { kind: 'container', namespace: 'default', name: 'default', container: 'web' },
    headline: [
      'there is a pod default/web-node-1 with container app: statelet explain container default/web-node-1/app.',
    ],
  },
  {
    what: 'a manifest with a field that is wrong',
    make: async (it) => {
      it.world.manifests.set(
        '/manifests/web.yaml',
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'web' },
          spec: { containers: [{ name: 'app' }] },
        }),
      );
      it.start();
      await it.wait(3_000);
    },
    headline: ['/manifests/web.yaml: spec.containers[0].image: is required'],
  },
  {
    what: 'a manifest that was spoilt under a pod that runs',
    make: running(({ world }) => world.spoil('/manifests/web.yaml', '{'), 5_000),
    headline: [
      'runs; its manifest cannot be used as it is now, and its last good version stays in force: /manifests/web.yaml: line 1',
    ],
  },
  {
    what: 'a second manifest of the same name',
    make: async (it) => {
      it.put('web');
      it.start();
      await it.wait(5_000);
      it.world.put('/manifests/zz.yaml', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'web', uid: 'other' },
        spec: { containers: [{ name: 'app', image: 'present:1' }] },
      });
      await it.wait(5_000);
    },
    headline: ['duplicate pod name', 'ignoring: /manifests/web.yaml has it'],
  },
  {
    what: 'a first crash',
    make: running((it) => it.world.runtime.crash(it.container('app').id, 3), 22),
    headline: ['does not run as it is to: container app ended with code 3 0 s ago', 'it has the image'],
    waitsFor: ['this call (inspectImage) has been under way for'],
  },
  {
    what: 'a crash loop',
    make: web(60_000, {}, { command: ['exit', '1', '100'] }),
    headline: [
      'container app ended with code 1 29 s ago, after 3 restarts',
      'CrashLoopBackOff',
      'the crash back-off is over in 11 s',
    ],
    waitsFor: ['What container app wrote before it ended is in ', 'Container app: the crash back-off is over in 11 s.'],
  },
  {
    what: 'a container that was killed for want of memory, twice',
    make: async (it) => {
      await web(5_000)(it);
      for (const ms of [3_000, 3_000]) {
        const { id } = it.container('app');
        it.world.runtime.crash(id, 137);
        Object.assign(it.container('app'), { reason: 'OOMKilled' });
        await it.wait(ms);
      }
    },
    headline: [
      'container app was killed for want of memory 3 s ago, after 1 restart',
      'the crash back-off is over in 7 s',
    ],
    waitsFor: ['the crash back-off is over in 7 s'],
  },
  {
    what: 'a container that ignores TERM, with grace left',
    make: running(({ world }) => world.remove('/manifests/web.yaml'), 10_200, {}, { command: ['run', 'ignoreTerm'] }),
    headline: [
      'is to end (its manifest at the file source was removed or replaced)',
      'asked to stop 10 s ago',
      'its grace of 30 s is over in 20 s, and then it is killed',
    ],
    waitsFor: [
      'waits until no container runs and no call about one is under way',
      'this call (stopContainer) has been under way for 10 s',
    ],
  },
  {
    what: 'a create that hangs',
    make: web(8_000, {}, {}, (it) => it.calls('CreateContainer', 'hangs')),
    headline: [
      'container app: the runtime creates an instance',
      'this call (createContainer) has been under way for 8 s',
    ],
  },
  {
    what: 'a start that hangs',
    make: web(8_000, {}, {}, (it) => it.calls('StartContainer', 'hangs')),
    headline: [
      'container app: the runtime starts the created instance',
      'this call (startContainer) has been under way for 8 s',
    ],
  },
  {
    what: 'a sandbox that hangs',
    make: web(8_000, {}, {}, (it) => it.calls('RunPodSandbox', 'hangs')),
    headline: ['it has the runtime make the sandbox', 'this call (runSandbox) has been under way for 8 s'],
    waitsFor: ['Container app does not run: its pod has no sandbox to run in.'],
  },
  {
    what: 'a stop that hangs',
    make: running((it) => {
      it.calls('StopContainer', 'hangs');
      it.world.remove('/manifests/web.yaml');
    }, 5_200),
    headline: ['container app was asked to stop 5 s ago', 'is over in 25 s'],
    waitsFor: ['this call (stopContainer) has been under way for 5 s'],
  },
  {
    what: 'a stop that fails',
    make: running((it) => {
      it.calls('StopContainer', 'fails');
      it.world.remove('/manifests/web.yaml');
    }, 700),
    headline: [
      'container app could not be stopped: StopContainer: INTERNAL',
      'the wait before it is asked to stop again is over in 0.4 s',
    ],
  },
  {
    what: 'a create that fails',
    make: web(3_000, {}, {}, (it) => it.calls('CreateContainer', 'fails')),
    headline: [
      'waits with CreateContainerError (CreateContainer: INTERNAL)',
      'the wait before the next try is over in 8 s',
    ],
  },
  {
    what: 'a runtime that is away from the start',
    make: web(8_000, {}, {}, ({ world }) => void (world.runtime.up = false)),
    headline: ['is wanted by the file source and is not begun yet', 'the runtime does not answer', 'is over in 3 s'],
  },
  {
    what: 'a runtime that goes away under a pod that runs',
    make: running(({ world }) => void (world.runtime.up = false), 20_000),
    headline: [
      'default/web-node-1 runs; the agent holds pods back: the runtime is unhealthy',
      '(Status: UNAVAILABLE)',
      'for 20 s',
    ],
  },
  {
    what: 'a runtime that is away when a pod comes',
    make: async (it) => {
      it.start();
      await it.wait(5_000);
      it.world.runtime.up = false;
      await it.wait(6_000);
      it.put('web');
      await it.wait(6_000);
    },
    headline: ['is not begun yet', 'the runtime is unhealthy: no pod is added until it is back', 'for 12 s'],
  },
  {
    what: 'a pod network that is not ready',
    make: web(8_000, {}, {}, ({ world }) => void (world.runtime.networkReady = false)),
    headline: ['is not Running: the runtime is ready and the pod network is not'],
    waitsFor: ["waits until the runtime's pod network is ready"],
  },
  {
    what: 'a sandbox that the network plugin refuses',
    make: web(8_000, {}, {}, ({ world }) => {
      world.runtime.runSandbox = () => {
        throw new Error('plugin type="bridge" failed (add): no free addresses');
      };
    }),
    headline: [
      'Failed to create pod sandbox: plugin type="bridge" failed (add): no free addresses',
      'the wait before the next try is over in',
    ],
  },
  {
    what: 'a path of a volume that is missing',
    make: web(
      3_000,
      { volumes: [{ name: 'data', hostPath: { path: '/data/x', type: 'Directory' } }] },
      { volumeMounts: [{ name: 'data', mountPath: '/d' }] },
      ({ world }) =>
        void (world.hostFault = (op) =>
          op === 'mount' ? 'hostPath type check failed: /data/x is not a directory' : undefined),
    ),
    headline: [
      'volume data could not be mounted: hostPath type check failed: /data/x is not a directory',
      'the wait before it is mounted again is over in 0.6 s',
    ],
    waitsFor: ['waits until every volume that a container uses is mounted, which is not so yet'],
  },
  {
    what: 'a ConfigMap that is missing',
    make: web(4_000, {}, {}, (it) => it.lacks('configmap "conf" not found')),
    headline: [
      'CreateContainerConfigError (configmap "conf" not found)',
      'the wait before the next try is over in 6 s',
    ],
  },
  {
    what: 'a key that is missing',
    make: web(4_000, {}, {}, (it) => it.lacks(`couldn't find key color in ConfigMap default/conf`)),
    headline: ["couldn't find key color in ConfigMap default/conf", 'over in 6 s'],
  },
  {
    what: 'a Secret that is missing',
    make: web(4_000, {}, {}, (it) => it.lacks('secret "creds" not found')),
    headline: ['secret "creds" not found', 'over in 6 s'],
  },
  {
    what: 'an init container that fails',
    make: web(60_000, init(['exit', '1', '100'])),
    headline: [
      'is not Running: container setup ended with code 1 29 s ago, after 3 restarts',
      'init container setup waits with CrashLoopBackOff',
      'the crash back-off is over in 11 s',
    ],
    waitsFor: ['Container app does not run: its turn to start has not come.'],
  },
  {
    what: 'an init container that still runs',
    make: web(20_000, init(['run'])),
    headline: ['is not Running: init container setup has run for 20 s and has not ended yet'],
    waitsFor: ['Container app does not run: its turn to start has not come.'],
  },
  {
    what: 'a sidecar that cannot be started',
    make: web(5_000, init(['run'], { restartPolicy: 'Always', image: 'far:1', imagePullPolicy: 'Never' })),
    headline: ['sidecar setup waits with ErrImageNeverPull'],
    waitsFor: ['Container app does not run: its turn to start has not come.'],
  },
  {
    what: 'a deadline that is near',
    make: web(20_000, { activeDeadlineSeconds: 60 }),
    headline: ['runs; the time that activeDeadlineSeconds gives the pod is over in 40 s'],
    waitsFor: ['is over in 40 s'],
  },
  {
    what: 'a deadline that has passed',
    make: web(70_000, { activeDeadlineSeconds: 60 }),
    headline: ['has ended as Failed (DeadlineExceeded: pod was active on the node longer'],
    waitsFor: ['waits until the pod is gone from its source'],
  },
  {
    what: 'a deadline that has passed, the container ignoring TERM',
    make: web(70_000, { activeDeadlineSeconds: 60 }, { command: ['run', 'ignoreTerm'] }),
    headline: ['is to end (DeadlineExceeded', 'its grace of 30 s is over in 20 s'],
  },
  {
    what: 'a predecessor of the same name that has not ended',
    make: async (it) => {
      await web(5_000, {}, { command: ['run', 'ignoreTerm'] })(it);
      it.put('web', {}, {}, { labels: { version: '2' } });
      await it.wait(10_200);
    },
    headline: [
      'is not Running: another pod of the name default/web-node-1 (UID ',
      'container app was asked to stop 10 s ago',
      'is over in 20 s',
    ],
    waitsFor: ['waits until the other pod of the same name has ended'],
  },
  {
    what: 'a pod that does not fit',
    cluster: true,
    make: ofApi(3_000, () => undefined, 0, {}, { resources: { requests: { cpu: '1000' } } }),
    headline: [
      'default/web was not taken in (OutOfcpu)',
      'requested: 1000000, used: 0, capacity: 4000',
      'that is for good',
    ],
  },
  {
    what: 'a node that lacks the labels',
    cluster: true,
    make: ofApi(3_000, () => undefined, 0, { nodeSelector: { disk: 'ssd' } }),
    headline: ['default/web was not taken in (NodeAffinity)'],
  },
  {
    what: 'a node that lacks the labels, and cannot be asked for them',
    cluster: true,
    make: ofApi(5, (it) => void (it.cluster.server.away = 'silent'), 3_000, { nodeSelector: { disk: 'ssd' } }),
    headline: [
      'default/web is wanted by the api source and is not begun yet',
      'the Node is read afresh before that counts',
    ],
  },
  {
    what: 'a static pod that does not fit',
    make: web(3_000, {}, { resources: { requests: { cpu: '1000' } } }),
    headline: ['default/web-node-1 was not taken in', 'cpu 998000', 'it is judged again 10 s after that'],
  },
  {
    what: 'an API server that is away: the status is not written',
    cluster: true,
    make: ofApi(
      5_000,
      (it) => {
        it.cluster.server.away = 'refuses';
        it.world.runtime.crash(it.container('app').id, 1);
      },
      4_000,
    ),
    headline: ['the API server could not be told of it: patch pod status', 'is not available', 'is over in '],
    waitsFor: ['The writer of its status: the wait before it is written again is over in'],
  },
  {
    what: 'an API server that is away: the mirror pod is not made',
    cluster: true,
    make: async (it) => {
      it.start();
      await it.wait(5_000);
      it.cluster.server.away = 'refuses';
      it.put('web');
      await it.wait(5_000);
    },
    headline: ['default/web-node-1 runs; the API server could not be told of it: create pod', 'is not available'],
    waitsFor: ['The writer of its status'],
  },
  {
    what: 'a deleted pod whose last status cannot be written',
    cluster: true,
    make: async (it) => {
      await ofApi(5_000, (it) => it.delete('web'), 12)(it);
      it.cluster.server.away = 'refuses';
      await it.wait(5_000);
    },
    headline: ['the API server could not be told of it: ', 'is not available'],
    waitsFor: ['The writer of its status'],
  },
  {
    what: 'a pod that has ended while the API server is away',
    cluster: true,
    make: async (it) => {
      await ofApi(5_000, () => undefined, 0, { restartPolicy: 'Never' }, { command: ['exit', '0', '9000'] })(it);
      it.cluster.server.away = 'silent';
      await it.wait(6_000);
    },
    headline: ['default/web has ended as Succeeded (container app ended with code 0): the API server is being told'],
  },
  {
    what: 'a pod that goes on while the API server has been away since the agent began',
    cluster: true,
    make: async (it) => {
      await ofApi(5_000, () => undefined, 0)(it);
      it.world.kill();
      it.cluster.server.away = 'refuses';
      it.start();
      await it.wait(5_000);
    },
    headline: ['default/web runs; the API server could not be told of it, because its pods were not read yet'],
  },
  {
    what: 'a cgroup that cannot be removed',
    make: running(({ world }) => {
      world.hostFault = (op) => (op === 'release' ? 'cgroup kubepods/pod1: device or resource busy' : undefined);
      world.remove('/manifests/web.yaml');
    }, 6_000),
    headline: [
      'Nothing of default/web-node-1 runs any more',
      'error releasing pod: cgroup kubepods/pod1: device or resource busy',
      'the wait before the next try is over in',
    ],
  },
  {
    what: 'a pod that only the runtime knows, while a source has not delivered',
    cluster: true,
    make: async (it) => {
      await ofApi(5_000, () => undefined, 0)(it);
      it.world.kill();
      it.cluster.kept.clear();
      it.cluster.server.away = 'refuses';
      it.start();
      await it.wait(5_000);
    },
    headline: ['default/web is known to the runtime alone', 'api has not yet'],
  },
  {
    what: 'an agent that drains',
    cluster: true,
    make: async (it) => {
      await ofApi(5_000, () => void (it.cluster.server.away = 'silent'), 100)(it);
      it.world.runtime.crash(it.container('app').id, 1);
      await it.wait(1_000);
      it.world.agent?.send({ type: 'agent.drain' });
      await it.wait(1_000);
    },
    headline: ['default/web', 'the agent holds pods back: the last events are written'],
  },
  {
    what: 'a node whose runtime is away',
    make: web(60_000, {}, {}, ({ world }) => void (world.runtime.up = false)),
    about: { kind: 'node' },
    headline: ['Node node-1: the agent holds pods back: the runtime does not answer yet', 'is over in 1 s'],
  },
  {
    what: 'a node whose runtime goes away',
    make: running(({ world }) => void (world.runtime.up = false), 20_000),
    about: { kind: 'node' },
    headline: ['the runtime is unhealthy', '(Status: UNAVAILABLE)', 'for 20 s'],
    waitsFor: ['The agent waits until the runtime answers and is ready, which is not so yet.'],
  },
  {
    what: 'a node whose API server is away',
    cluster: true,
    make: async (it) => {
      it.cluster.server.away = 'refuses';
      it.start();
      await it.wait(20_000);
    },
    about: { kind: 'node' },
    headline: ["Node node-1: the API server's pods: list pods: the API server", 'is not available'],
    waitsFor: [
      'list pods: the API server at api.sim is not available',
      'No pod is judged absent yet, because a source has not delivered: api.',
    ],
  },
  {
    what: 'a node that is well, and a pod on it that is not',
    make: async (it) => {
      it.world.runtime.absentImages.add('absent:1');
      it.put('web');
      it.put('shop', {}, { image: 'absent:1' });
      it.start();
      await it.wait(5_000);
    },
    about: { kind: 'node' },
    headline: [
      'Node node-1 is well: 2 pods, of which 1 runs as wanted; default/shop-node-1 does not: ',
      'statelet explain pod default/shop-node-1 says why',
    ],
  },
  {
    what: 'a node that is well',
    make: web(5_000),
    about: { kind: 'node' },
    headline: ['Node node-1 is well: 1 pod, of which 1 runs as wanted.'],
  },
  {
    what: 'a readiness gate that is false',
    cluster: true,
    make: ofApi(5_000, () => undefined, 0, { readinessGates: [{ conditionType: 'example.com/lb' }] }),
    headline: ['default/web runs; it is not Ready: ReadinessGatesNotReady', 'example.com/lb'],
  },
  {
    what: 'a name that is not there',
    make: web(5_000),
    about: 'wbe',
    headline: ['The agent has no pod default/wbe; there is default/web.'],
  },
  {
    what: 'a container that waits for another',
    make: web(20_000, init(['run'])),
    about: { kind: 'container', namespace: 'default', name: 'web', container: 'app' },
    headline: ['container app does not run: its turn to start has not come; init container setup has run for 20 s'],
  },
  {
    what: 'a pod that has ended',
    make: web(10_000, { restartPolicy: 'Never' }, { command: ['exit', '0', '100'] }),
    headline: ['has ended as Succeeded (container app ended with code 0)'],
  },
  {
    what: 'a pod that has failed',
    make: web(10_000, { restartPolicy: 'Never' }, { command: ['exit', '2', '100'] }),
    headline: ['has ended as Failed (container app ended with code 2 10 s ago)'],
  },
];
