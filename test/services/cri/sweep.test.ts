import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { housekeepingSlots } from '../../../services/cri/index.ts';
import { embeddedRig } from './embedded-rig.ts';
import type { EmbeddedRig } from './embedded-rig.ts';
import { launch, ref, shellPod } from './lifecycle.ts';
import { effect, STOP } from './rig.ts';

describe('the sweep of the runtime', () => {
  let embedded: EmbeddedRig;
  beforeEach(async () => {
    embedded = await embeddedRig();
  });
  afterEach(() => embedded.close());

  /** A pod with three ended instances in a first sandbox that is stopped, and a running one in a second. */
  async function restarted() {
    const { rig } = embedded;
    const desired = shellPod('sleep 1000');
    const [container] = desired.spec.containers;
    if (!container) throw new Error('the pod has a container');
    const first = await launch(rig, desired);
    const create = { pod: desired, container, kind: 'regular' as const, imageRef: 'busybox:1.35' };
    const ids = [first.id];
    const end = (id: string) =>
      effect(rig.container.stopContainer, { pod: desired, name: 'app', id, gracePeriodSeconds: 0, ...STOP });
    const run = async (attempt: number, sandbox: typeof first.sandbox) => {
      const { id } = await effect(rig.container.createContainer, {
        ...create,
        attempt,
        sandbox: { ...sandbox, hostIPs: [] },
      });
      await effect(rig.container.startContainer, { pod: desired, container, id });
      ids.push(id);
    };
    for (const attempt of [1, 2]) await run(attempt, first.sandbox);
    for (const id of ids) await end(id);
    await effect(rig.pod.stopSandbox, { id: first.sandbox.id });
    const second = await effect(rig.pod.runSandbox, { pod: desired, attempt: 1 });
    await run(3, second);
    return { desired, ids, first: first.sandbox.id, second: second.id, end };
  }

  test('keeps the running instance and the newest ended one, with their sandboxes', async () => {
    const { rig } = embedded;
    const { desired, ids, first, second, end } = await restarted();
    const { sweep } = housekeepingSlots(rig.services);
    expect(await effect(sweep, { keep: [desired.metadata.uid] })).toEqual({ removed: [ids[1], ids[0]] });
    const seen = await effect(rig.pod.observePod, ref(desired));
    expect(seen.containers.map(({ id }) => id)).toEqual([ids[3], ids[2]]);
    expect(seen.sandboxes.map(({ id }) => id)).toEqual([second, first]);
    expect(rig.host.asked.filter((line) => line.startsWith('remove log'))).toHaveLength(2);

    await end(ids[3] ?? '');
    expect(await effect(sweep, { keep: [desired.metadata.uid] })).toEqual({ removed: [ids[2], first] });
    expect(await effect(sweep, { keep: [desired.metadata.uid] })).toEqual({ removed: [] });
  });

  test('touches nothing of a pod that is not kept: its own actor ends it', async () => {
    const { desired } = await restarted();
    const before = await effect(embedded.rig.pod.observePod, ref(desired));
    expect(await effect(housekeepingSlots(embedded.rig.services).sweep, { keep: [] })).toEqual({ removed: [] });
    const after = await effect(embedded.rig.pod.observePod, ref(desired));
    expect(after.containers.map(({ id }) => id)).toEqual(before.containers.map(({ id }) => id));
  });
});
