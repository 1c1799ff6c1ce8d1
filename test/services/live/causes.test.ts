import { describe, expect, test } from '@jest/globals';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import { podOf, apiPod, at, liveWorld, type LiveWorld } from './live-world.ts';

const POD = 'pod default/web-node-1';
const APP = 'container default/web-node-1/app';

interface Situation {
  /** What is there before; default: a pod that runs. */
  pod?: object;
  before?(live: LiveWorld): void;
  /** What happens; the agent has ten seconds before and thirty after. */
  happens(live: LiveWorld, pod: DesiredPod): void | Promise<void>;
  actor: string;
  /** State that the actor goes to, and the event that told it to. */
  to: string;
  event?: string;
  cause: { by: string; detail?: unknown };
}

const told = ({ world }: LiveWorld, { metadata: { uid } }: DesiredPod, event: object) =>
  world.agent?.getSnapshot().context.pods[uid]?.send(event as never);
const container = ({ world }: LiveWorld) => [...world.runtime.containers.values()].find((c) => c.state === 'running');
const exit = (code: number) => podOf('web', {}, { command: ['exit', String(code), '12000'] });
const terminate = (reason: string) => (live: LiveWorld, pod: DesiredPod) =>
  told(live, pod, { type: 'pod.terminate', request: { failed: { reason, message: 'words' } } });

const SITUATIONS: Record<string, Situation> = {
  'a manifest is added': {
    happens: () => undefined,
    actor: APP,
    to: 'running',
    cause: { by: 'manifestAdded', detail: 'a manifest of the file source' },
  },
  'a manifest is removed': {
    happens: ({ world }) => world.remove(at('web')),
    actor: APP,
    to: 'stopping',
    event: 'container.desired',
    cause: { by: 'manifestRemoved', detail: 'its manifest at the file source was removed or replaced' },
  },
  'a manifest is replaced': {
    happens: ({ world }) => void world.put(at('web'), podOf('web', {}, { image: 'present:2' })),
    actor: POD,
    to: 'pending.waitingForPredecessor',
    cause: { by: 'manifestChange' },
  },
  'a user deletes the pod': {
    happens: (live, pod) =>
      told(live, pod, {
        type: 'pod.desired',
        pod: apiPod(pod, { deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 7 }),
      }),
    actor: APP,
    to: 'stopping',
    cause: { by: 'userDelete', detail: 'deleted at the API server, with 7 s to end' },
  },
  'what a user deleted is still the reason at the end of it': {
    happens: (live, pod) =>
      told(live, pod, { type: 'pod.desired', pod: apiPod(pod, { deletionTimestamp: '2026-01-01T00:00:10Z' }) }),
    actor: POD,
    to: 'terminated.finished',
    event: 'xstate.done.actor.0.pod.terminated.releasing',
    cause: { by: 'userDelete' },
  },
  'a definition changes in place': {
    happens: (live, pod) => {
      const [app] = pod.spec.containers;
      const changed = { ...pod, spec: { ...pod.spec, containers: [{ ...app, image: 'present:2' }] } };
      told(live, pod, { type: 'pod.desired', pod: changed });
    },
    actor: APP,
    to: 'stopping',
    cause: { by: 'manifestChange', detail: 'its definition changed' },
  },
  'and its successor starts for that too': {
    happens: (live, pod) => {
      const [app] = pod.spec.containers;
      const changed = { ...pod, spec: { ...pod.spec, containers: [{ ...app, image: 'present:2' }] } };
      told(live, pod, { type: 'pod.desired', pod: changed });
    },
    actor: APP,
    to: 'creating',
    cause: { by: 'manifestChange', detail: 'its definition changed' },
  },
  'a pod is evicted': { happens: terminate('Evicted'), actor: APP, to: 'stopping', cause: { by: 'eviction' } },
  'a pod is preempted': { happens: terminate('Preempting'), actor: APP, to: 'stopping', cause: { by: 'preemption' } },
  'the active deadline passes': {
    pod: podOf('web', { activeDeadlineSeconds: 15 }),
    happens: () => undefined,
    actor: APP,
    to: 'stopping',
    cause: { by: 'deadline', detail: 'DeadlineExceeded' },
  },
  'a container crashes': {
    pod: exit(3),
    happens: () => undefined,
    actor: APP,
    to: 'crashLoopBackOff',
    cause: { by: 'exit', detail: 'container app ended with code 3' },
  },
  'a container ends before anybody sees it run': {
    pod: podOf('web', {}, { command: ['exit', '3', '0'] }),
    happens: () => undefined,
    actor: APP,
    to: 'exited',
    cause: { by: 'exit', detail: 'container app ended with code 3' },
  },
  'the start after a crash is for the crash, which the timer only delayed': {
    pod: exit(3),
    happens: ({ world }) => world.clock.advance(20_000),
    actor: APP,
    to: 'pulling',
    event: 'xstate.after.crashBackoff.container.crashLoopBackOff',
    cause: { by: 'exit', detail: 'container app ended with code 3' },
  },
  'a container is killed from outside': {
    happens: (live) => live.world.runtime.crash(container(live)?.id ?? '', 137),
    actor: APP,
    to: 'pulling',
    cause: { by: 'exit', detail: 'container app ended with code 137 (SIGKILL)' },
  },
  'a container is killed for its memory': {
    pod: podOf('web', { restartPolicy: 'Never' }),
    happens: (live) => {
      const victim = container(live);
      live.world.runtime.crash(victim?.id ?? '', 137);
      Object.assign(victim ?? {}, { reason: 'OOMKilled' });
    },
    actor: POD,
    to: 'terminating.proving',
    cause: { by: 'oom', detail: 'container app was killed for want of memory' },
  },
  'all that a pod was to do is done': {
    pod: podOf('web', { restartPolicy: 'Never' }, { command: ['exit', '0', '12000'] }),
    happens: () => undefined,
    actor: POD,
    to: 'terminated.finished',
    cause: { by: 'exit', detail: 'container app ended with code 0' },
  },
  'an init container has made way': {
    pod: podOf('web', { initContainers: [{ name: 'first', image: 'present:1', command: ['exit', '0', '12000'] }] }),
    happens: () => undefined,
    actor: APP,
    to: 'pulling',
    cause: { by: 'exit', detail: 'container first ended with code 0' },
  },
  'a sandbox dies': {
    happens: ({ world }) => {
      const [sandbox] = world.runtime.sandboxes.values();
      Object.assign(sandbox ?? {}, { state: 'notReady', ips: [] });
      for (const { id } of world.runtime.containers.values()) world.runtime.crash(id, 137);
      return world.clock.advance(60_000);
    },
    actor: POD,
    to: 'syncing.startingSandbox',
    event: 'xstate.done.actor.0.pod.syncing.stoppingOldSandbox',
    cause: { by: 'sandboxChanged' },
  },
  'an effect fails': {
    before: ({ world }) => (world.runtime.script = (op) => (op === 'StartContainer' ? 'fails' : undefined)),
    happens: () => undefined,
    actor: APP,
    to: 'inspecting',
    cause: { by: 'effectFailed', detail: 'startContainer: INTERNAL' },
  },
  'a stop that fails is asked for again for the first reason': {
    before: ({ world }) => (world.runtime.script = (op) => (op === 'StopContainer' ? 'fails' : undefined)),
    happens: ({ world }) => world.remove(at('web')),
    actor: APP,
    to: 'stopping',
    event: 'xstate.after.stopRetry.container.waitingToStop',
    cause: { by: 'manifestRemoved' },
  },
  'an image cannot be pulled': {
    pod: podOf('web', {}, { image: 'absent:1' }),
    before: ({ world }) => void world.runtime.absentImages.add('absent:1'),
    happens: () => undefined,
    actor: 'imagePull default/web-node-1/app',
    to: 'ErrImagePull',
    cause: { by: 'effectFailed', detail: expect.stringMatching(/^pullImage: /) },
  },
  'the pod network is not there': {
    before: ({ world }) => (world.runtime.networkReady = false),
    happens: () => undefined,
    actor: POD,
    to: 'syncing.waitingForNetwork',
    cause: { by: 'networkLost' },
  },
  'the pod network comes': {
    before: ({ world }) => (world.runtime.networkReady = false),
    happens: ({ world }) => void (world.runtime.networkReady = true),
    actor: POD,
    to: 'syncing.startingSandbox',
    event: 'network.ready',
    cause: { by: 'runtimeBack' },
  },
  'the runtime goes away': {
    happens: ({ world }) => void (world.runtime.up = false),
    actor: 'syncloop',
    to: 'paused',
    event: 'health.changed',
    cause: { by: 'runtimeLost' },
  },
  'the runtime comes back': {
    happens: async ({ world }) => {
      world.runtime.up = false;
      await world.clock.advance(60_000);
      world.runtime.up = true;
    },
    actor: 'syncloop',
    to: 'running',
    event: 'health.changed',
    cause: { by: 'runtimeBack' },
  },
  'the agent is started anew': {
    happens: (live) => void live.restart(),
    actor: APP,
    to: 'running',
    event: 'xstate.init',
    cause: { by: 'restart', detail: 'found as it was when the agent started' },
  },
  'a pod that nobody wants any more is found': {
    happens: (live) => {
      live.world.kill();
      live.world.remove(at('web'));
      live.restart();
    },
    actor: POD,
    to: 'terminating.stoppingContainers',
    cause: { by: 'orphan' },
  },
  'the agent is asked to stop': {
    happens: ({ world }) => world.agent?.send({ type: 'agent.drain' }),
    actor: 'syncloop',
    to: 'draining',
    cause: { by: 'drain' },
  },
  'a period is over': {
    happens: () => undefined,
    actor: 'runtimeHealth',
    to: 'check.checking, verdict.healthy',
    cause: { by: 'timer', detail: 'checkPeriod is over' },
  },
};

describe('the history names who asked, when', () => {
  test.each(Object.entries(SITUATIONS))('%s', async (_name, situation) => {
    const live = liveWorld();
    situation.before?.(live);
    const pod = live.world.put(at('web'), situation.pod ?? podOf('web'));
    live.world.start(live.live.inspect);
    await live.world.clock.advance(10_000);
    await situation.happens(live, pod);
    await live.world.clock.advance(30_000);
    const { actor, to, event, cause } = situation;
    const steps = live.live.history(actor).filter((t) => t.actor === actor);
    const found = steps.findLast((t) => t.to === to && (event === undefined || t.event === event));
    expect(found ?? steps).toMatchObject({ cause });
    expect(live.problems).toEqual([]);
    live.world.kill();
  });
});
