import { afterEach, expect, test } from '@jest/globals';
import { Daemon } from '../support/daemon.ts';
import { faultyRuntime } from '../support/node.ts';
import { shellPod } from '../support/pods.ts';
import { tearDown } from '../support/tear-down.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(() => tearDown(...undo.splice(0).reverse()), 60_000);

test('a runtime that never answers a call in flight does not keep an agent that is to end', async () => {
  const { runtime, discard } = await faultyRuntime();
  undo.push(discard);
  const daemon = await Daemon.start({ endpoint: runtime.endpoint });
  undo.push(() => daemon.discard());
  runtime.faults.add({ method: 'RunPodSandbox', hang: true });
  await daemon.put(shellPod('hangs', 'sleep 1000'));
  await daemon.until('the call is under way', () => runtime.faults.calls('RunPodSandbox').length > 0);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  expect(daemon.log).toContain('statelet has stopped');
}, 60_000);
