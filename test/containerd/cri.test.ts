import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeOnContainerd, RUNTIME_MS, testOnPrivate, testRuntime } from '../support/containerd-tier.ts';
import { busyboxImage } from '../support/oci-image.ts';
import { container } from '../support/fixtures.ts';
import { tearDown } from '../support/tear-down.ts';
import { launch, lifecycleTests, ref, shellPod, stopAndRemove, watch } from '../services/cri/lifecycle.ts';
import { effect, Rig } from '../services/cri/rig.ts';

describeOnContainerd('the CRI services on a real containerd', () => {
  let runtime: Awaited<ReturnType<typeof testRuntime>>;
  let rig: Rig;

  beforeAll(async () => {
    runtime = await testRuntime();
    rig = await Rig.connect(runtime.endpoint);
  }, RUNTIME_MS);

  afterAll(async () => {
    await tearDown(
      () => rig?.close(),
      () => runtime?.stop(),
    );
  }, 60_000);

  lifecycleTests(() => rig);

  test('a pod of its own network gets an address, one of the host network none', async () => {
    const [own, host] = [shellPod('sleep 1000'), shellPod('sleep 1000', { spec: { hostNetwork: true } })];
    expect((await launch(rig, own)).sandbox).toMatchObject({ network: 'pod', ips: [expect.stringMatching(/^\d+\./)] });
    expect((await launch(rig, host)).sandbox).toMatchObject({ network: 'node', ips: [] });
    await stopAndRemove(rig, own);
    const seen = await effect(rig.pod.observePod, ref(host));
    expect(seen).toMatchObject({ sandboxes: [{ network: 'node' }], containers: [{ state: 'running' }] });
    await stopAndRemove(rig, host);
  });

  test('B090 a command that is not there is told by StartContainer, and the instance is seen as never started', async () => {
    const desired = shellPod('', { spec: { containers: [container({ image: 'busybox:1.35', command: ['/none'] })] } });
    await expect(launch(rig, desired)).rejects.toMatchObject({
      op: 'StartContainer',
      message: expect.stringContaining('/none'),
    });
    const { containers } = await effect(rig.pod.observePod, ref(desired));
    expect(containers).toMatchObject([{ state: 'exited', exitCode: 128, reason: 'StartError' }]);
    await stopAndRemove(rig, desired);
  });

  testOnPrivate('B128 runAsNonRoot goes by the user of the image', async () => {
    await runtime.addImage?.(await busyboxImage(['docker.io/library/named:1'], { User: 'app' }));
    await runtime.addImage?.(await busyboxImage(['docker.io/library/root:1'], { User: '0' }));
    await runtime.addImage?.(await busyboxImage(['docker.io/library/numbered:1'], { User: '1000' }));
    const run = async (image: string, runAsUser?: number) => {
      const securityContext = { runAsNonRoot: true, runAsUser };
      const command = ['sh', '-c', 'exit $(id -u | sed s/1000/7/)'];
      const desired = shellPod('', { spec: { containers: [container({ image, command, securityContext })] } });
      try {
        await launch(rig, desired);
        for (;;) {
          const [seen] = (await effect(rig.pod.observePod, ref(desired))).containers;
          if (seen?.state === 'exited') return seen.exitCode;
          await sleep(20);
        }
      } finally {
        await stopAndRemove(rig, desired);
      }
    };
    const refused = (message: string) => ({
      reason: 'CreateContainerConfigError',
      message: expect.stringContaining(message),
    });
    await expect(run('named:1')).rejects.toMatchObject(refused('non-numeric user (app)'));
    await expect(run('root:1')).rejects.toMatchObject(refused('image will run as root'));
    await expect(run('named:1', 1000)).resolves.toBe(7);
    await expect(run('numbered:1')).resolves.toBe(7);
  });

  testOnPrivate('the event stream is opened again after the daemon was restarted', async () => {
    const watching = watch(rig);
    await watching.until(({ type }) => type === 'stream.opened');
    await runtime.stopDaemon?.();
    await watching.until(({ type }) => type === 'stream.lost');
    await runtime.startDaemon?.();
    const openings = () => watching.seen.filter(({ type }) => type === 'stream.opened').length;
    await watching.until(() => openings() > 1);
    expect(watching.seen.filter(({ type }) => type === 'stream.lost')).toHaveLength(1);
    watching.stop();
  });
});
