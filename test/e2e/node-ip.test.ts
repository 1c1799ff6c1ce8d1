import { afterEach, expect, test } from '@jest/globals';
import { Daemon } from '../support/daemon.ts';
import { EmbeddedProcess } from '../support/embedded-process.ts';
import { shellPod } from '../support/pods.ts';
import { tearDown } from '../support/tear-down.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(() => tearDown(...undo.splice(0).reverse()), 60_000);

test('a --node-ip that the host does not have yet keeps no static pod from running', async () => {
  const runtime = await EmbeddedProcess.start();
  undo.push(() => runtime.discard());
  const daemon = await Daemon.make({ endpoint: runtime.endpoint, flags: ['--node-ip=192.0.2.250'] });
  undo.push(() => daemon.discard());
  await daemon.start();
  await daemon.put(shellPod('runs', 'sleep 1000'));
  expect((await daemon.ready('runs')).hostIP).toBe('192.0.2.250');
}, 60_000);
