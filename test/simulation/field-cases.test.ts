import { describe, expect, test } from '@jest/globals';
import { World } from '../support/world/world.ts';

/** A pod of one container that runs until it is stopped. */
function pod(name: string, more: { image?: string; command?: string[]; uid?: string; spec?: object } = {}) {
  const { image = 'present:1', command = ['run'], uid, spec } = more;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(uid && { uid }) },
    spec: {
      terminationGracePeriodSeconds: 10,
      containers: [{ name: 'app', image, imagePullPolicy: 'IfNotPresent', command }],
      ...spec,
    },
  };
}

const at = (name: string) => `/manifests/${name}.yaml`;

function makeWorld(): World {
  const world = new World(1);
  world.runtime.images.add('present:1');
  world.runtime.images.add('present:2');
  return world;
}

const running = ({ runtime }: World) => [...runtime.containers.values()].filter((c) => c.state === 'running');
const lines = ({ runtime }: World, what: string) => runtime.ledger.filter((line) => line.what === what);
const sound = (world: World) => {
  expect(world.invariants.breaches).toEqual([]);
  expect(world.crashes).toEqual([]);
};

describe('restart and recovery', () => {
  test('B072 while no agent runs the containers go on, and the next agent takes them over as they are', async () => {
    const world = makeWorld();
    for (const name of ['a', 'b', 'c']) world.put(at(name), pod(name));
    world.start();
    await world.clock.advance(5_000);
    expect(running(world)).toHaveLength(3);
    const before = world.runtime.ledger.length;
    world.kill();
    await world.clock.advance(60_000);
    world.start();
    await world.clock.advance(120_000);
    expect(world.runtime.ledger.slice(before)).toEqual([]);
    sound(world);
  });

  test('B071 pods that were unwanted meanwhile end after a restart, the others go on', async () => {
    const world = makeWorld();
    for (let i = 0; i < 10; i++) world.put(at(`${i}`), pod(`p${i}`));
    world.start();
    await world.clock.advance(5_000);
    world.kill();
    for (let i = 0; i < 5; i++) world.remove(at(`${i}`));
    world.start();
    await world.clock.advance(60_000);
    expect(
      running(world)
        .map((c) => c.fullName)
        .sort(),
    ).toEqual([5, 6, 7, 8, 9].map((i) => `p${i}-node-1_default`));
    expect(lines(world, 'container.created')).toHaveLength(10);
    expect([...world.runtime.sandboxes.values()]).toHaveLength(5);
    expect(world.disk.size).toBe(5);
    sound(world);
  });

  test('B071 an agent killed with any call in flight leaves one copy of each pod after the next start', async () => {
    for (let calls = 1; calls <= 24; calls++) {
      const world = makeWorld();
      for (const name of ['a', 'b']) world.put(at(name), pod(name));
      world.killAtCall(calls, 100);
      world.start();
      await world.clock.advance(120_000);
      expect(running(world)).toHaveLength(2);
      expect([...world.runtime.sandboxes.values()].filter((s) => s.state === 'ready')).toHaveLength(2);
      sound(world);
      world.kill();
    }
  });

  test.each([-3_600_000, 3_600_000])(
    'B069 a clock that jumps by %i ms reuses no attempt and leaves back-offs as they are',
    async (jump) => {
      const world = makeWorld();
      world.put(at('a'), pod('a', { command: ['exit', '1', '100'] }));
      world.start();
      await world.clock.advance(60_000);
      world.clock.skewMs += jump;
      const [before, since] = [lines(world, 'container.started').length, world.clock.elapsed];
      await world.clock.advance(400_000);
      const starts = lines(world, 'container.started').slice(before);
      expect(starts.map((line) => line.attempt)).toEqual(starts.map((_, i) => before + i));
      expect(starts[0]?.at).toBeGreaterThan(since);
      const times = lines(world, 'container.started').map((line) => line.at);
      const waits = times.slice(1).map((time, i) => Math.floor((time - (times[i] ?? 0)) / 1000));
      expect(waits).toEqual([0, 10, 20, 40, 80, 160]);
      sound(world);
    },
  );
});

test('B016 a pod that never restarts and whose sandbox died after its init containers ends as Failed, not Pending', async () => {
  const world = makeWorld();
  const init = { name: 'init', image: 'present:1', imagePullPolicy: 'IfNotPresent', command: ['exit', '0', '500'] };
  const { metadata } = world.put(at('a'), pod('a', { spec: { restartPolicy: 'Never', initContainers: [init] } }));
  world.runtime.script = (op) => (op === 'CreateContainer' && world.runtime.containers.size > 0 ? 'fails' : undefined);
  world.start();
  await world.clock.advance(2_000);
  world.kill();
  for (const id of world.runtime.sandboxes.keys()) world.runtime.stopSandbox(id);
  world.start();
  await world.clock.advance(60_000);
  expect(world.agent?.getSnapshot().context.entries[metadata.uid]?.status?.phase).toBe('Failed');
  expect(lines(world, 'container.started').map((line) => line.container)).toEqual(['init']);
  sound(world);
});

describe('static pods', () => {
  test('B091 a manifest that is put back while its pod ends is started again once that is over', async () => {
    const world = makeWorld();
    const manifest = pod('a', { command: ['run', 'ignoreTerm'] });
    world.put(at('a'), manifest);
    world.start();
    await world.clock.advance(5_000);
    world.remove(at('a'));
    await world.clock.advance(2_000);
    world.put(at('a'), manifest);
    await world.clock.advance(60_000);
    expect(running(world)).toHaveLength(1);
    const [first, second] = lines(world, 'container.started');
    const end = lines(world, 'container.exited')[0];
    expect(second?.podUid).toBe(first?.podUid);
    expect(second?.at).toBeGreaterThan(end?.at ?? Infinity);
    sound(world);
  });

  test.each(['present:1', 'present:2'])(
    'B092 a manifest that changed while no agent ran: the old pod ends before the new one (%s) starts',
    async (image) => {
      const world = makeWorld();
      world.put(at('a'), pod('a', { command: ['run', 'ignoreTerm'] }));
      world.start();
      await world.clock.advance(5_000);
      world.kill();
      const { metadata } = world.put(at('a'), pod('a', { image, command: ['run', 'changed', 'ignoreTerm'] }));
      world.start();
      await world.clock.advance(60_000);
      expect(running(world).map((c) => c.podUid)).toEqual([metadata.uid]);
      const starts = lines(world, 'container.started');
      expect(starts).toHaveLength(2);
      expect(starts[1]?.at).toBeGreaterThan(lines(world, 'container.exited')[0]?.at ?? Infinity);
      sound(world);
    },
  );

  test('a changed image under a UID of its own replaces the container in its sandbox', async () => {
    const world = makeWorld();
    world.put(at('a'), pod('a', { uid: 'own' }));
    world.start();
    await world.clock.advance(5_000);
    world.put(at('a'), pod('a', { uid: 'own', image: 'present:2' }));
    await world.clock.advance(30_000);
    expect(running(world).map(({ image, attempt }) => [image, attempt])).toEqual([['present:2', 1]]);
    expect(lines(world, 'sandbox.started')).toHaveLength(1);
    sound(world);
  });

  test.each(
    (['Always', 'OnFailure', 'Never'] as const).flatMap((restartPolicy) =>
      ['present:2', 'present:1'].map((image) => ({ restartPolicy, image })),
    ),
  )(
    'a container that gave way to an image that cannot be had is followed by $image, though the agent was killed meanwhile ($restartPolicy)',
    async ({ restartPolicy, image }) => {
      const world = makeWorld();
      world.runtime.absentImages.add('absent:1');
      const put = (own: string) => world.put(at('a'), pod('a', { uid: 'own', image: own, spec: { restartPolicy } }));
      put('present:1');
      world.start();
      await world.clock.advance(5_000);
      put('absent:1');
      await world.clock.advance(30_000);
      expect(running(world)).toEqual([]);
      world.kill();
      world.start();
      await world.clock.advance(30_000);
      expect(world.facts.has('own')).toBe(false);
      put(image);
      await world.clock.advance(30_000);
      expect(running(world).map((c) => [c.image, c.attempt])).toEqual([[image, 1]]);
      expect(lines(world, 'container.started')).toHaveLength(2);
      sound(world);
    },
  );

  test('a broken text over a good manifest changes nothing that runs', async () => {
    const world = makeWorld();
    world.put(at('a'), pod('a'));
    world.put(at('b'), pod('b'));
    world.start();
    await world.clock.advance(5_000);
    const before = world.runtime.ledger.length;
    for (const text of ['', '{', 'kind: [', '\u0000', 'apiVersion: v1\nkind: Pod\n']) {
      world.spoil(at('a'), text);
      await world.clock.advance(30_000);
    }
    expect(world.runtime.ledger.slice(before)).toEqual([]);
    sound(world);
  });
});

test.each<[string, (world: World) => void]>([
  ['while no agent ran', (world) => void world],
  ['later', (world) => world.start()],
])('a pod that had failed under an earlier agent, and was removed %s and put back, runs anew', async (_when, first) => {
  const world = makeWorld();
  const manifest = pod('a', { command: ['exit', '1', '100'], spec: { restartPolicy: 'Never' } });
  world.put(at('a'), manifest);
  world.start();
  await world.clock.advance(30_000);
  world.kill();
  expect(world.facts.size).toBe(1);
  first(world);
  await world.clock.advance(30_000);
  expect(lines(world, 'container.started')).toHaveLength(1);
  world.remove(at('a'));
  if (!world.agent) world.start();
  await world.clock.advance(30_000);
  expect([world.facts.size, world.runtime.containers.size]).toEqual([0, 0]);
  world.put(at('a'), manifest);
  await world.clock.advance(30_000);
  expect(lines(world, 'container.started')).toHaveLength(2);
  sound(world);
});

describe('a stop that the agent did not live to see the end of', () => {
  const STUBBORN = ['run', 'ignoreTerm'];
  const spec = { terminationGracePeriodSeconds: 30 };
  /** A pod that ignores TERM, 10 s into its end or its container's; no agent runs for 5 s more. */
  async function midStop(change: (world: World) => void, uid?: string) {
    const world = makeWorld();
    world.put(at('a'), pod('a', { command: STUBBORN, spec, uid }));
    world.start();
    await world.clock.advance(5_000);
    change(world);
    // The reading of the folder, and the second look at what is gone.
    await world.clock.advance(10_000);
    const asked = lines(world, 'container.stopAsked')[0]?.at ?? NaN;
    world.kill();
    await world.clock.advance(5_000);
    return { world, asked };
  }
  /** Seconds that the second agent gave, and how long the process lived since the first was asked. */
  const given = (world: World) => lines(world, 'container.stopAsked').at(-1)?.graceSeconds ?? NaN;
  const lived = (world: World, asked: number) => (lines(world, 'container.exited')[0]?.at ?? NaN) - asked;

  test('goes on with what is left of the grace, not with the whole: a pod whose manifest was removed', async () => {
    const { world, asked } = await midStop((w) => w.remove(at('a')));
    world.start();
    await world.clock.advance(60_000);
    expect(given(world)).toBeLessThanOrEqual(16);
    expect(given(world)).toBeGreaterThanOrEqual(14);
    expect(lived(world, asked)).toBeLessThanOrEqual(31_000);
    expect([world.runtime.containers.size, world.stops.size]).toEqual([0, 0]);
    sound(world);
  });

  test('and a container that is stopped alone, because its definition changed', async () => {
    const { world, asked } = await midStop(
      (w) => w.put(at('a'), pod('a', { command: STUBBORN, spec, uid: 'own', image: 'present:2' })),
      'own',
    );
    world.start();
    await world.clock.advance(60_000);
    expect(given(world)).toBeLessThanOrEqual(16);
    expect(lived(world, asked)).toBeLessThanOrEqual(31_000);
    expect(running(world).map(({ image }) => image)).toEqual(['present:2']);
    sound(world);
  });

  test('is finished also where the manifest is put back meanwhile: the pod then begins anew', async () => {
    const { world } = await midStop((w) => w.remove(at('a')));
    const { metadata } = world.put(at('a'), pod('a', { command: STUBBORN, spec }));
    world.start();
    await world.clock.advance(60_000);
    expect(given(world)).toBeLessThanOrEqual(16);
    const [first, second] = lines(world, 'container.started');
    expect(second?.podUid).toBe(first?.podUid);
    expect(second?.attempt).toBe(0);
    expect(second?.at).toBeGreaterThan(lines(world, 'container.exited')[0]?.at ?? Infinity);
    expect(running(world).map((c) => c.podUid)).toEqual([metadata.uid]);
    // The new life has its own whole grace.
    world.remove(at('a'));
    await world.clock.advance(60_000);
    expect(given(world)).toBe(30);
    sound(world);
  });

  test('never gets more than the whole where the clock was set back, nor waits where it was set ahead', async () => {
    const back = await midStop((w) => w.remove(at('a')));
    back.world.clock.skewMs -= 3_600_000;
    back.world.start();
    await back.world.clock.advance(60_000);
    expect(given(back.world)).toBeLessThanOrEqual(30);
    const ahead = await midStop((w) => w.remove(at('a')));
    ahead.world.clock.skewMs += 3_600_000;
    ahead.world.start();
    await ahead.world.clock.advance(60_000);
    expect(given(ahead.world)).toBe(2);
    for (const { world } of [back, ahead]) {
      expect(world.runtime.containers.size).toBe(0);
      sound(world);
    }
  });
});

test('a wall clock that is set ahead while pods stop takes nothing of their grace', async () => {
  const world = makeWorld();
  const ordered = {
    terminationGracePeriodSeconds: 30,
    initContainers: [
      {
        name: 'side',
        image: 'present:1',
        imagePullPolicy: 'IfNotPresent',
        command: ['run', 'ignoreTerm'],
        restartPolicy: 'Always',
      },
    ],
  };
  world.put(at('a'), pod('a', { command: ['run', 'ignoreTerm'], spec: ordered }));
  world.start();
  await world.clock.advance(5_000);
  world.remove(at('a'));
  await world.clock.advance(2_000);
  world.clock.skewMs += 3_600_000;
  // Something is seen of the pod, which is planned anew.
  world.runtime.crash(running(world).find((c) => c.name === 'app')?.id ?? '', 1);
  await world.clock.advance(60_000);
  const asked = lines(world, 'container.stopAsked');
  expect(asked.map(({ container }) => container)).toEqual(['app', 'side']);
  expect(asked[1]?.graceSeconds).toBeGreaterThanOrEqual(27);
  sound(world);
});

describe('a manifest that is broken while no agent runs', () => {
  const manifest = (image = 'present:1') => pod('a', { image });
  async function broken() {
    const world = makeWorld();
    world.put(at('a'), manifest());
    world.put(at('b'), pod('b'));
    world.start();
    await world.clock.advance(5_000);
    world.kill();
    world.spoil(at('a'), '{');
    const before = world.runtime.ledger.length;
    world.start();
    await world.clock.advance(60_000);
    return { world, before };
  }

  test('ends no pod: what ran before runs on, also through the next start, and crashes are answered', async () => {
    const { world, before } = await broken();
    expect(world.runtime.ledger.slice(before)).toEqual([]);
    world.kill();
    world.start();
    await world.clock.advance(60_000);
    expect(world.runtime.ledger.slice(before)).toEqual([]);
    world.runtime.crash(running(world).find((c) => c.fullName.startsWith('a-'))?.id ?? '', 1);
    await world.clock.advance(60_000);
    expect(running(world)).toHaveLength(2);
    expect(world.events.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('(its last good version stays in force)'),
    );
    sound(world);
  });

  test('mended, the same pod goes on; mended into another, or removed, it ends', async () => {
    const same = await broken();
    same.world.put(at('a'), manifest());
    await same.world.clock.advance(60_000);
    expect(same.world.runtime.ledger.slice(same.before)).toEqual([]);
    const other = await broken();
    const { metadata } = other.world.put(at('a'), manifest('present:2'));
    await other.world.clock.advance(60_000);
    const owners = running(other.world).map((c) => c.podUid);
    expect(owners).toHaveLength(2);
    expect(owners).toContain(metadata.uid);
    const removed = await broken();
    removed.world.remove(at('a'));
    await removed.world.clock.advance(60_000);
    expect(running(removed.world).map((c) => c.fullName)).toEqual(['b-node-1_default']);
    for (const { world } of [same, other, removed]) sound(world);
  });
});

describe('one that hangs harms only itself', () => {
  test('B122 a pull that hangs does not hold up a pod whose image is there', async () => {
    const world = makeWorld();
    world.runtime.script = (op, about) => (op === 'PullImage' && about === 'slow:1' ? 'hangs' : undefined);
    world.put(at('a'), pod('a', { image: 'slow:1' }));
    world.put(at('b'), pod('b'));
    world.start();
    await world.clock.advance(2_000);
    expect(running(world).map((c) => c.fullName)).toEqual(['b-node-1_default']);
    sound(world);
  });

  test('B159 a pod that the runtime says nothing of does not hold up the others', async () => {
    const world = makeWorld();
    const uids = Array.from({ length: 20 }, (_, i) => world.put(at(`${i}`), pod(`p${i}`)).metadata.uid);
    world.start();
    await world.clock.advance(10_000);
    world.runtime.script = (op, about) => (op === 'ContainerStatus' && about === uids[0] ? 'hangs' : undefined);
    for (const c of running(world)) world.runtime.crash(c.id, 1);
    await world.clock.advance(2_000);
    // The one that cannot be looked at may run again as well: its end was told by the stream.
    expect(running(world).map((c) => c.podUid)).toEqual(expect.arrayContaining(uids.slice(1)));
    expect(world.agent?.getSnapshot().value).toBe('running');
    sound(world);
  });
});

test('B184 a burst of a hundred pods runs at once, and nothing of it is left when it goes', async () => {
  const world = makeWorld();
  world.start();
  await world.clock.advance(2_000);
  const idle = world.clock.pending;
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 100; i++) world.put(at(`${i}`), pod(`p${i}`));
    await world.clock.advance(10_000);
    expect(running(world)).toHaveLength(100);
    for (let i = 0; i < 100; i++) world.remove(at(`${i}`));
    await world.clock.advance(60_000);
    expect(world.runtime.containers.size + world.runtime.sandboxes.size + world.disk.size + world.mounts.size).toBe(0);
    expect(Object.keys(world.agent?.getSnapshot().context.pods ?? {})).toEqual([]);
    expect(world.clock.pending).toBeLessThanOrEqual(idle + 2);
  }
  sound(world);
}, 60_000);
