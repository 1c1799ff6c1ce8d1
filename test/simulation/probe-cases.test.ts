import { describe, expect, test } from '@jest/globals';
import type { ContainerStatus, PodStatus } from '../../machines/kubernetes.types.ts';
import type { RunProbeInput } from '../../machines/pod/probe.types.ts';
import { World } from '../support/world/world.ts';

const probe = (over: object = {}) => ({ exec: { command: ['test'] }, periodSeconds: 1, ...over });

/** A pod of one container that runs until it is stopped, with what else is given. */
function pod(container: object, spec: object = {}) {
  const app = { name: 'app', image: 'present:1', imagePullPolicy: 'IfNotPresent', command: ['run'], ...container };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', uid: 'uid-web' },
    spec: { terminationGracePeriodSeconds: 10, containers: [app], ...spec },
  };
}

interface Rig {
  world: World;
  /** Each probe that was made: when, of which container, and what it found. */
  probes: { at: number; name: string; id: string; type: RunProbeInput['type']; healthy: boolean }[];
  /** Statuses of the pod as they were reported, each with its time. */
  statuses: { at: number; status: PodStatus }[];
  restartAgent(): void;
  own(name?: string): ContainerStatus | undefined;
}

function rig(manifest: object, finds: (input: RunProbeInput, ageMs: number) => boolean): Rig {
  const world = new World(1);
  world.runtime.images.add('present:1');
  const probes: Rig['probes'] = [];
  const statuses: Rig['statuses'] = [];
  world.probe = (input) => {
    const { startedAt = 0 } = world.runtime.containers.get(input.id) ?? {};
    const healthy = finds(input, world.clock.now() - startedAt);
    probes.push({ at: world.clock.elapsed, name: input.container.name, id: input.id, type: input.type, healthy });
    return healthy;
  };
  const start = () =>
    world.start((event) => {
      if (event.type !== '@xstate.event') return;
      const sent = event.event as { type: string; status?: PodStatus };
      if (sent.type === 'pod.status' && sent.status) statuses.push({ at: world.clock.elapsed, status: sent.status });
    });
  world.put('/manifests/web.yaml', manifest);
  start();
  return {
    world,
    probes,
    statuses,
    restartAgent() {
      world.kill();
      start();
    },
    own: (name = 'app') => {
      const { containerStatuses = [], initContainerStatuses = [] } = statuses.at(-1)?.status ?? {};
      return [...containerStatuses, ...initContainerStatuses].find((status) => status.name === name);
    },
  };
}

const ids = ({ world }: Rig, name = 'app') =>
  world.runtime.ledger.flatMap(({ what, container, id = '', at }) =>
    what === 'container.started' && container === name ? [{ id, at }] : [],
  );
const sound = ({ world }: Rig) => {
  expect(world.invariants.breaches).toEqual([]);
  expect(world.crashes).toEqual([]);
};

describe('an agent that is started again', () => {
  test('B059 shows no container unready that was ready and ran on, until a probe says so', async () => {
    let healthy = true;
    const it = rig(pod({ readinessProbe: probe({ periodSeconds: 30 }) }), () => healthy);
    await it.world.clock.advance(40_000);
    expect(it.own()).toMatchObject({ ready: true, started: true });
    const before = it.statuses.length;
    for (let i = 0; i < 5; i++) {
      it.restartAgent();
      await it.world.clock.advance(7_000);
    }
    const since = it.statuses.slice(before).map(({ status }) => status);
    expect(since.length).toBeGreaterThanOrEqual(5);
    expect(since.map((status) => status.containerStatuses?.[0]?.ready)).not.toContain(false);
    expect(since.flatMap((status) => status.conditions?.find((c) => c.type === 'Ready')?.status)).not.toContain(
      'False',
    );
    healthy = false;
    await it.world.clock.advance(120_000);
    expect(it.own()).toMatchObject({ ready: false, started: true });
    expect(ids(it)).toHaveLength(1);
    sound(it);
  });

  test('B060 counts the initial delay of a probe from the start of its container', async () => {
    const it = rig(pod({ readinessProbe: probe({ initialDelaySeconds: 60, periodSeconds: 5 }) }), () => true);
    await it.world.clock.advance(59_000);
    expect(it.own()?.ready).toBe(false);
    await it.world.clock.advance(3_000);
    expect(it.own()?.ready).toBe(true);
    const before = it.statuses.length;
    const probed = it.probes.length;
    it.restartAgent();
    await it.world.clock.advance(6_000);
    expect(it.statuses.slice(before).map(({ status }) => status.containerStatuses?.[0]?.ready)).not.toContain(false);
    expect(it.probes.length).toBeGreaterThan(probed);
    sound(it);
  });

  test('B062 does not ask a container for its startup that has started', async () => {
    const booted = ({ type }: RunProbeInput, ageMs: number) => type !== 'startup' || ageMs < 30_000;
    const spec = { startupProbe: probe({ failureThreshold: 3 }), livenessProbe: probe() };
    const it = rig(pod(spec), booted);
    await it.world.clock.advance(40_000);
    const before = it.statuses.length;
    it.restartAgent();
    await it.world.clock.advance(60_000);
    expect(it.statuses.slice(before).map(({ status }) => status.containerStatuses?.[0]?.started)).not.toContain(false);
    expect(it.probes.filter(({ type, at }) => type === 'startup' && at > 40_000)).toEqual([]);
    expect(it.probes.filter(({ type, at }) => type === 'liveness' && at > 50_000).length).toBeGreaterThan(30);
    expect(ids(it)).toHaveLength(1);
    sound(it);
  });

  test('goes by what was kept at last, where a full disk had not taken it at first', async () => {
    const up = ({ type }: RunProbeInput, ageMs: number) => type !== 'startup' || ageMs < 20_000;
    const it = rig(pod({ startupProbe: probe({ failureThreshold: 3 }), readinessProbe: probe() }), up);
    it.world.hostFault = (op) => (op === 'keepVerdict' ? 'no space left on device' : undefined);
    await it.world.clock.advance(10_000);
    expect(it.own()).toMatchObject({ started: true, ready: true });
    it.world.hostFault = undefined;
    await it.world.clock.advance(15_000);
    const before = it.statuses.length;
    it.restartAgent();
    await it.world.clock.advance(30_000);
    const since = it.statuses.slice(before).map(({ status }) => status.containerStatuses?.[0]);
    expect(since.map((own) => [own?.started, own?.ready])).not.toContainEqual(expect.arrayContaining([false]));
    expect(ids(it)).toHaveLength(1);
    sound(it);
  });

  test('B027 restarts a container that crashes beside a sidecar which had started', async () => {
    const side = { name: 'side', image: 'present:1', command: ['run'], restartPolicy: 'Always', startupProbe: probe() };
    const it = rig(pod({ command: ['exit', '1', '40000'] }, { initContainers: [side] }), () => true);
    await it.world.clock.advance(20_000);
    expect(it.own('side')).toMatchObject({ started: true });
    it.restartAgent();
    await it.world.clock.advance(30_000);
    expect(it.own()).toMatchObject({ restartCount: 1, ready: true });
    expect(ids(it, 'side')).toHaveLength(1);
    sound(it);
  });

  test('stops what had failed its liveness before, and what was being stopped for it is followed', async () => {
    const it = rig(
      pod({ command: ['run', 'ignoreTerm'], livenessProbe: probe() }, { restartPolicy: 'OnFailure' }),
      ({ id }) => id !== ids(it)[0]?.id,
    );
    await it.world.clock.advance(5_000);
    expect(it.own()?.state?.running).toBeDefined();
    it.restartAgent();
    await it.world.clock.advance(30_000);
    expect(ids(it)).toHaveLength(2);
    expect(it.own()).toMatchObject({ ready: true, restartCount: 1 });
    sound(it);
  });
});

describe('probes', () => {
  test('B049 a container that liveness restarted begins with started false, and has its own startup', async () => {
    const up = ({ type }: RunProbeInput, ageMs: number) => ageMs > 10_000 && (type === 'startup' || ageMs < 30_000);
    const it = rig(
      pod({ startupProbe: probe({ failureThreshold: 30 }), livenessProbe: probe({ periodSeconds: 5 }) }),
      up,
    );
    await it.world.clock.advance(120_000);
    expect(ids(it).length).toBeGreaterThan(1);
    for (const { id } of ids(it)) {
      const first = it.statuses.find(({ status }) => status.containerStatuses?.[0]?.containerID?.endsWith(`://${id}`));
      expect(first?.status.containerStatuses?.[0]).toMatchObject({ started: false, ready: false });
    }
    const second = it.probes.filter(({ id }) => id === ids(it)[1]?.id);
    const started = second.findIndex(({ type, healthy }) => type === 'startup' && healthy);
    expect(started).toBeGreaterThan(5);
    expect(second.slice(0, started).map(({ type }) => type)).not.toContain('liveness');
    sound(it);
  });

  test('B050 there is no liveness probe before the startup probe has succeeded', async () => {
    const it = rig(
      pod({ startupProbe: probe({ failureThreshold: 30 }), livenessProbe: probe(), readinessProbe: probe() }),
      ({ type }, ageMs) => type !== 'startup' || ageMs > 15_000,
    );
    await it.world.clock.advance(20_000);
    const started = it.probes.findIndex(({ healthy }) => healthy);
    expect(it.probes.slice(0, started + 1).map(({ type }) => type)).toEqual(Array(started + 1).fill('startup'));
    expect(new Set(it.probes.slice(started + 1).map(({ type }) => type))).toEqual(new Set(['liveness', 'readiness']));
    expect(it.own()).toMatchObject({ started: true, ready: true });
    sound(it);
  });

  test('B052 failures are counted anew for each container', async () => {
    const it = rig(pod({ livenessProbe: probe({ periodSeconds: 2, failureThreshold: 3 }) }), () => false);
    await it.world.clock.advance(180_000);
    const starts = ids(it);
    expect(starts.length).toBeGreaterThan(3);
    for (const { id } of starts.slice(0, -1)) expect(it.probes.filter((made) => made.id === id)).toHaveLength(3);
    const reasons = it.world.events.filter(({ reason }) => reason === 'Killing').map(({ message }) => message);
    expect(new Set(reasons)).toEqual(new Set(['Container app failed liveness probe, will be restarted']));
    sound(it);
  });

  test('a failed liveness ends the pod where nothing is run again', async () => {
    const it = rig(pod({ livenessProbe: probe() }, { restartPolicy: 'Never' }), () => false);
    await it.world.clock.advance(30_000);
    expect(ids(it)).toHaveLength(1);
    expect(['Succeeded', 'Failed']).toContain(it.statuses.at(-1)?.status.phase);
    sound(it);
  });

  test('B058 a clock that is set back delays no probe', async () => {
    const it = rig(pod({ readinessProbe: probe({ initialDelaySeconds: 5 }) }), () => true);
    await it.world.clock.advance(1_500);
    expect(ids(it)).toHaveLength(1);
    it.world.clock.skewMs -= 3_600_000;
    await it.world.clock.advance(4_500);
    expect(it.own()?.ready).toBe(true);
    sound(it);
  });

  test('B046 readiness goes on while the pod ends, liveness and startup do not', async () => {
    let ok = true;
    const it = rig(
      pod(
        { command: ['run', 'ignoreTerm'], readinessProbe: probe({ failureThreshold: 1 }), livenessProbe: probe() },
        { terminationGracePeriodSeconds: 30 },
      ),
      () => ok,
    );
    await it.world.clock.advance(5_000);
    it.world.remove('/manifests/web.yaml');
    ok = false;
    const removedAt = it.world.clock.elapsed;
    await it.world.clock.advance(4_000);
    expect(it.own()).toMatchObject({ ready: false, started: true });
    expect(it.statuses.at(-1)?.status.conditions?.find((c) => c.type === 'Ready')?.status).toBe('False');
    await it.world.clock.advance(16_000);
    const after = it.probes.filter(({ at }) => at > removedAt + 1_500);
    expect(new Set(after.map(({ type }) => type))).toEqual(new Set(['readiness']));
    expect(after.length).toBeGreaterThan(13);
    sound(it);
  });

  test('B041 sidecars start in their order, each when the one before has started, and end after what they serve', async () => {
    const sidecar = (name: string, more: object = {}) => ({
      name,
      image: 'present:1',
      command: ['run'],
      restartPolicy: 'Always',
      ...more,
    });
    const initContainers = [sidecar('s1', { startupProbe: probe({ failureThreshold: 30 }) }), sidecar('s2')];
    const it = rig(pod({}, { initContainers }), (_, ageMs) => ageMs >= 5_000);
    await it.world.clock.advance(15_000);
    const [s1, s2, app] = ['s1', 's2', 'app'].map((name) => ids(it, name)[0]?.at ?? NaN);
    expect(s2! - s1!).toBeGreaterThanOrEqual(5_000);
    expect(app!).toBeGreaterThan(s2!);
    it.world.remove('/manifests/web.yaml');
    await it.world.clock.advance(20_000);
    const ended = it.world.runtime.ledger.filter(({ what }) => what === 'container.exited').map((l) => l.container);
    expect(ended).toEqual(['app', 's2', 's1']);
    sound(it);
  });

  test.each(['Never', 'OnFailure', 'Always'])(
    'B029 the readiness of a sidecar is a part of its pod’s, also after its restart (%s)',
    async (restartPolicy) => {
      let healthy = true;
      const side = {
        name: 'side',
        image: 'present:1',
        command: ['run'],
        restartPolicy: 'Always',
        readinessProbe: probe({ failureThreshold: 1 }),
      };
      const it = rig(pod({}, { restartPolicy, initContainers: [side] }), () => healthy);
      const ready = () => it.statuses.at(-1)?.status.conditions?.find(({ type }) => type === 'Ready')?.status;
      await it.world.clock.advance(5_000);
      expect([it.own('side')?.ready, ready()]).toEqual([true, 'True']);
      healthy = false;
      it.world.runtime.crash(ids(it, 'side')[0]?.id ?? '', 1);
      await it.world.clock.advance(5_000);
      expect(it.own('side')).toMatchObject({ ready: false, started: true, restartCount: 1 });
      expect(ready()).toBe('False');
      healthy = true;
      await it.world.clock.advance(5_000);
      expect([it.own('side')?.ready, ready()]).toEqual([true, 'True']);
      sound(it);
    },
  );

  test('a probe that cannot be made changes nothing', async () => {
    const it = rig(
      pod({ readinessProbe: probe({ failureThreshold: 1 }), livenessProbe: probe({ failureThreshold: 1 }) }),
      () => true,
    );
    await it.world.clock.advance(5_000);
    it.world.runtime.script = (op) => (op === 'ExecSync' ? 'fails' : undefined);
    const before = it.statuses.length;
    await it.world.clock.advance(60_000);
    expect(it.statuses.slice(before)).toEqual([]);
    expect(ids(it)).toHaveLength(1);
    expect(it.world.events.at(-1)?.message).toMatch(
      /^(Liveness|Readiness) probe errored and resulted in unknown state: /,
    );
    sound(it);
  });
});
