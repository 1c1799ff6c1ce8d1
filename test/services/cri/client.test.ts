import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { AgentError } from '../../../machines/agent-error.types.ts';
import { version } from '../../../services/cri/verbs/version.ts';
import { startContainer } from '../../../services/cri/verbs/start-container.ts';
import { stopContainer } from '../../../services/cri/verbs/stop-container.ts';
import { embeddedRig } from './embedded-rig.ts';
import type { EmbeddedRig } from './embedded-rig.ts';
import { launch, shellPod } from './lifecycle.ts';

describe('a call to the runtime', () => {
  let embedded: EmbeddedRig;
  beforeEach(async () => {
    embedded = await embeddedRig();
  });
  afterEach(() => embedded.close());

  test('ends at its deadline', async () => {
    const { runtime, rig } = embedded;
    runtime.faults.add({ method: 'Status', hang: true });
    const call = rig.cri.call('status', { verbose: false }, { deadlineMs: 50 });
    await expect(call).rejects.toMatchObject({ op: 'Status', reason: 'DEADLINE_EXCEEDED', transient: true });
  });

  test('is cut by its signal where it only reads', async () => {
    const { runtime, rig } = embedded;
    runtime.faults.add({ method: 'Version', hang: true });
    const leave = new AbortController();
    const call = version(rig.cri, leave.signal);
    leave.abort();
    await expect(call).rejects.toMatchObject({ op: 'Version', reason: 'CANCELLED' });
    await expect(version(rig.cri, leave.signal)).rejects.toMatchObject({ reason: 'CANCELLED' });
  });

  test('goes on to its answer where it changes something, and settled waits for it', async () => {
    const { runtime, rig } = embedded;
    const { id } = await launch(rig, shellPod('sleep 1000'));
    const leave = new AbortController();
    runtime.faults.add({ method: 'StopContainer', hang: true });
    const stop = stopContainer(rig.cri, id, 0, leave.signal);
    let settled = false;
    const waiting = rig.cri.settled().then(() => (settled = true));
    leave.abort();
    await sleep(20);
    expect(settled).toBe(false);
    runtime.faults.clear();
    await expect(stop).rejects.toMatchObject({ reason: 'ABORTED' });
    await waiting;
    expect(settled).toBe(true);
  });

  test('does not begin where nobody wants it any more', async () => {
    const { runtime, rig } = embedded;
    await expect(startContainer(rig.cri, 'any', AbortSignal.abort())).rejects.toMatchObject({ reason: 'CANCELLED' });
    expect(runtime.faults.calls('StartContainer')).toEqual([]);
  });

  test('fails at once while the runtime is away, and is answered again when it is back', async () => {
    const { rig } = embedded;
    await version(rig.cri);
    await embedded.runtime.stop();
    const lost = await version(rig.cri).catch((error: unknown) => error as AgentError);
    expect(lost).toMatchObject({ op: 'Version', reason: 'UNAVAILABLE', transient: true });
    expect(String((lost as AgentError).message)).toMatch(
      new RegExp(`^Version: the runtime at ${rig.cri.socket} is not available: \\S`),
    );
    expect(String((lost as AgentError).message)).not.toMatch(/Resolution note|Last error/);
    await embedded.restart();
    for (;;) {
      const answer = await version(rig.cri).catch(() => undefined);
      if (answer) break;
      await sleep(20);
    }
  });
});
