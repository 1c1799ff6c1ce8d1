import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cri } from '../../services/cri/client.ts';
import {
  ContainerConfig,
  ContainerState,
  ImageSpec,
  PodSandboxConfig,
} from '../../services/cri/proto/generated/cri.ts';
import { createContainer } from '../../services/cri/verbs/create-container.ts';
import { imageStatus } from '../../services/cri/verbs/image-status.ts';
import { listContainers } from '../../services/cri/verbs/list-containers.ts';
import { listPodSandbox } from '../../services/cri/verbs/list-pod-sandbox.ts';
import { removeContainer } from '../../services/cri/verbs/remove-container.ts';
import { runPodSandbox } from '../../services/cri/verbs/run-pod-sandbox.ts';
import { startContainer } from '../../services/cri/verbs/start-container.ts';
import { stopContainer } from '../../services/cri/verbs/stop-container.ts';
import { stopPodSandbox } from '../../services/cri/verbs/stop-pod-sandbox.ts';
import type { ContainerStatus, PodStatus } from '../../machines/kubernetes.types.ts';
import type { CgroupRoot } from '../support/cgroup-root.ts';
import { describeOnContainerd, RUNTIME_MS, testOnPrivate } from '../support/containerd-tier.ts';
import { isReady, lines, NODE_NAME, type Daemon } from '../support/daemon.ts';
import { containerdNode } from '../support/node.ts';
import { busyboxImage } from '../support/oci-image.ts';
import { BUSYBOX, FOREVER, shell, shellPod } from '../support/pods.ts';

jest.setTimeout(90_000);

const PREFIX = `recover${process.pid}`;
const named = (name: string) => `${PREFIX}-${name}`;

let node: Awaited<ReturnType<typeof containerdNode>>;
let runtime: (typeof node)['runtime'];
let cgroups: CgroupRoot;
let daemon: Daemon;
let cri: Cri;

const main = (status: PodStatus): ContainerStatus => {
  const [first] = status.containerStatuses ?? [];
  if (!first) throw new Error('the pod shows no container');
  return first;
};
const idOf = (status: PodStatus) => main(status).containerID?.replace(/^.*:\/\//, '') ?? '';
const notes = (name: string) => lines(join(daemon.directory, 'notes', name));
/** The same once there are so many: a container runs before its script has written. */
async function noted(name: string, count: number): Promise<string[]> {
  await daemon.until(`${name} has written ${count} lines`, async () => (await notes(name)).length >= count);
  return notes(name);
}
const sandboxesOf = async (name: string) =>
  listPodSandbox(cri, { 'io.kubernetes.pod.name': `${named(name)}-${NODE_NAME}` });

/** A pod that can write to /notes, with init containers before its main container. */
function noting(name: string, script: string, spec: Parameters<typeof shellPod>[2] = {}) {
  const path = join(daemon.directory, 'notes');
  const volumeMounts = [{ name: 'notes', mountPath: '/notes' }];
  return shellPod(
    named(name),
    script,
    {
      volumes: [{ name: 'notes', hostPath: { path, type: 'DirectoryOrCreate' } }],
      ...spec,
      initContainers: spec.initContainers?.map((container) => ({ ...container, volumeMounts })),
    },
    { volumeMounts },
  );
}

/** The container was restarted by what befell it, and is well again. */
const restarted = (before: string) => (status: PodStatus) => isReady(status) && idOf(status) !== before;

describeOnContainerd('a node on a real runtime after what may befall it', () => {
  beforeAll(async () => {
    node = await containerdNode(PREFIX);
    ({ runtime, cri, cgroups, daemon } = node);
    await daemon.start();
  }, RUNTIME_MS);

  afterEach(() => daemon.empty(), 60_000);

  afterAll(() => node?.discard(), 90_000);

  const patience = 45_000;

  test('B072 the agent is stopped, and killed, and started again: every container runs on', async () => {
    const names = ['on-a', 'on-b', 'on-c'];
    for (const name of names) await daemon.put(noting(name, `echo began >> /notes/${name}; ${FOREVER}`));
    const before = new Map<string, string>();
    for (const name of names) before.set(name, idOf(await daemon.ready(named(name), patience)));
    for (const end of ['stop', 'kill9'] as const) {
      await daemon[end]();
      await daemon.start();
      for (const name of names) {
        const status = await daemon.ready(named(name), patience);
        expect([name, idOf(status), main(status).restartCount]).toEqual([name, before.get(name), 0]);
        expect(await noted(name, 1)).toEqual(['began']);
      }
    }
  });

  test('B071 the agent is killed while pods start: one copy of each', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `kill-${i}`);
    for (const name of names) await daemon.put(noting(name, `echo began >> /notes/${name}; ${FOREVER}`));
    await daemon.until('some have a sandbox', async () => (await listPodSandbox(cri, {})).length > 2);
    await daemon.kill9();
    await daemon.start();
    for (const name of names) {
      const ended = main(await daemon.ready(named(name), patience)).lastState?.terminated;
      // containerd cancels a start whose client dies: the process may have run for a moment, and its record says so.
      if (ended) expect([name, ended.exitCode, ended.reason]).toEqual([name, 128, 'StartError']);
      const began = await noted(name, 1);
      expect([name, began.length]).toEqual([name, ended && began.length > 1 ? 2 : 1]);
      expect([name, await sandboxesOf(name)]).toMatchObject([name, [{}]]);
      const running = (await listContainers(cri, { state: ContainerState.CONTAINER_RUNNING })).filter(
        ({ labels }) => labels['io.kubernetes.pod.name'] === `${named(name)}-${NODE_NAME}`,
      );
      expect([name, running.length]).toEqual([name, 1]);
    }
  });

  test('containers that a kubelet started are adopted, not restarted', async () => {
    const uid = `4d2f3c1a-0000-4000-8000-${String(process.pid).padStart(12, '0')}`;
    const name = `${named('adopted')}-${NODE_NAME}`;
    const labels = {
      'io.kubernetes.pod.name': name,
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': uid,
    };
    const logDirectory = join(daemon.podLogsDir, `default_${name}_${uid}`);
    await mkdir(join(logDirectory, 'main'), { recursive: true });
    const sandboxConfig = PodSandboxConfig.fromPartial({
      metadata: { name, uid, namespace: 'default', attempt: 0 },
      hostname: name,
      logDirectory,
      labels,
      annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': uid },
      linux: {},
    });
    const sandbox = await runPodSandbox(cri, sandboxConfig);
    const pod = shellPod(named('adopted'), FOREVER);
    const container = await createContainer(
      cri,
      sandbox,
      ContainerConfig.fromPartial({
        metadata: { name: 'main', attempt: 2 },
        image: { image: BUSYBOX },
        command: ['/bin/sh', '-c', FOREVER],
        logPath: 'main/2.log',
        labels: { ...labels, 'io.kubernetes.container.name': 'main' },
        annotations: {
          // kubelet 1.36's hash of a container named main of this image.
          'io.kubernetes.container.hash': KUBELET_HASH,
          'io.kubernetes.container.restartCount': '2',
          'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
          'io.kubernetes.container.terminationMessagePolicy': 'File',
          'io.kubernetes.pod.terminationGracePeriod': '5',
        },
        linux: {},
      }),
      sandboxConfig,
    );
    await startContainer(cri, container);
    await daemon.stop();
    await daemon.put({ ...pod, metadata: { ...pod.metadata, uid } });
    await daemon.start();
    const status = await daemon.ready(named('adopted'), patience);
    expect([idOf(status), main(status).restartCount]).toEqual([container, 2]);
    expect(await sandboxesOf('adopted')).toMatchObject([{ id: sandbox }]);
    await stopContainer(cri, container, 0);
    const next = await daemon.podIs(named('adopted'), 'restarted', restarted(container), patience);
    expect(main(next)).toMatchObject({ restartCount: 3 });
  });

  test('B032 B033 a sandbox that is stopped behind its back: the whole order again', async () => {
    const name = 'again';
    const initContainers = [
      shell(`echo i1 >> /notes/${name}`, { name: 'i1' }),
      shell(`echo side >> /notes/${name}; ${FOREVER}`, { name: 'side', restartPolicy: 'Always' as const }),
      shell(`echo i2 >> /notes/${name}; sleep 1`, { name: 'i2' }),
    ];
    await daemon.put(noting(name, `echo main >> /notes/${name}; ${FOREVER}`, { initContainers }));
    const before = idOf(await daemon.ready(named(name), patience));
    const [sandbox] = await sandboxesOf(name);
    await daemon.stop();
    await stopPodSandbox(cri, sandbox?.id ?? '');
    await daemon.start();
    await daemon.podIs(
      named(name),
      'initialising again',
      ({ phase, conditions }) =>
        phase === 'Pending' && conditions?.find(({ type }) => type === 'Initialized')?.status === 'False',
      patience,
    );
    await daemon.podIs(named(name), 'well again', restarted(before), patience);
    expect(await noted(name, 8)).toEqual(['i1', 'side', 'i2', 'main', 'i1', 'side', 'i2', 'main']);
  });

  test('B017 a pod that has succeeded gets no other sandbox when its own is taken away', async () => {
    await daemon.put(noting('over', 'echo ran >> /notes/over', { restartPolicy: 'OnFailure' }));
    await daemon.phase(named('over'), 'Succeeded', patience);
    // The agent stops it at the same moment: of two stops at once the runtime's network plugin fails one.
    for (const { id } of await sandboxesOf('over'))
      await stopPodSandbox(cri, id).catch(async () => {
        await sleep(1_000);
        await stopPodSandbox(cri, id);
      });
    await daemon.put(noting('other', FOREVER));
    await daemon.ready(named('other'), patience);
    expect((await daemon.status(named('over')))?.phase).toBe('Succeeded');
    expect(await notes('over')).toEqual(['ran']);
  });

  test('B036 the record of a finished init container is removed: it is not run again', async () => {
    const initContainers = [shell('echo init >> /notes/pruned', { name: 'init' })];
    await daemon.put(noting('pruned', FOREVER, { initContainers }));
    const before = await daemon.ready(named('pruned'), patience);
    const init = before.initContainerStatuses?.[0]?.containerID?.replace(/^.*:\/\//, '') ?? '';
    // The runtime tells an exit before its own record has it.
    await daemon.until('it can be removed', async () => {
      const [record] = await listContainers(cri, { id: init });
      return record?.state === ContainerState.CONTAINER_EXITED;
    });
    await removeContainer(cri, init);
    await daemon.kill9();
    await daemon.start();
    const status = await daemon.ready(named('pruned'), patience);
    expect([idOf(status), await notes('pruned')]).toEqual([idOf(before), ['init']]);
    expect(status.initContainerStatuses?.[0]?.state?.terminated?.reason).toBe('Completed');
  });

  test('a main process that is killed from outside is started again', async () => {
    const marker = `${PREFIX}-killed`;
    await daemon.put(noting('killed', `echo began >> /notes/killed; : ${marker}; ${FOREVER}`));
    const before = idOf(await daemon.ready(named('killed'), patience));
    process.kill(await pidOf(before), 'SIGKILL');
    const status = await daemon.podIs(named('killed'), 'restarted', restarted(before), patience);
    expect(main(status)).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 137 } } });
    expect(await noted('killed', 2)).toEqual(['began', 'began']);
  });

  test('the pause process is killed: a new sandbox, and the container in it', async () => {
    await daemon.put(noting('pause', FOREVER));
    const before = idOf(await daemon.ready(named('pause'), patience));
    const [sandbox] = await sandboxesOf('pause');
    process.kill(await pidOf(sandbox?.id ?? ''), 'SIGKILL');
    await daemon.podIs(named('pause'), 'well again', restarted(before), patience);
    await daemon.until('one sandbox is ready', async () => {
      const ready = (await sandboxesOf('pause')).filter(({ state }) => state === 0);
      return ready.length === 1 && ready[0]?.id !== sandbox?.id;
    });
  });

  testOnPrivate(
    'the shim is killed: the pod is made anew',
    async () => {
      await daemon.put(noting('shim', FOREVER));
      const before = idOf(await daemon.ready(named('shim'), patience));
      const [sandbox] = await sandboxesOf('shim');
      const parent = /^PPid:\s+(\d+)$/m.exec(
        await readFile(`/proc/${await pidOf(sandbox?.id ?? '')}/status`, 'utf8'),
      )?.[1];
      process.kill(Number(parent), 'SIGKILL');
      await daemon.podIs(named('shim'), 'well again', restarted(before), patience);
    },
    90_000,
  );

  testOnPrivate(
    'the runtime is restarted under the agent: containers run on and new pods start',
    async () => {
      await daemon.put(noting('stays', FOREVER));
      const before = idOf(await daemon.ready(named('stays'), patience));
      await runtime.stopDaemon?.();
      await daemon.put(noting('waits', FOREVER));
      await daemon.until('that is noticed', () => daemon.log.includes('container runtime is not ready'));
      await runtime.startDaemon?.();
      await daemon.ready(named('waits'), patience);
      const status = await daemon.ready(named('stays'), patience);
      expect([idOf(status), main(status).restartCount]).toEqual([before, 0]);
    },
    90_000,
  );

  test('killed in the middle of a graceful stop, and then every manifest goes: nothing is left, and no grace is given anew', async () => {
    const grace = { terminationGracePeriodSeconds: 15 };
    const stubborn = 'trap "echo told >> /notes/term" TERM; while :; do sleep 0.2; done';
    await daemon.put(noting('stubborn', stubborn, grace));
    await daemon.put(noting('beside', FOREVER));
    for (const name of ['stubborn', 'beside']) await daemon.ready(named(name), patience);
    await daemon.remove(named('stubborn'));
    await noted('term', 1);
    await daemon.kill9();
    await daemon.remove(named('beside'));
    await sleep(6_000);
    const began = performance.now();
    await daemon.start();
    await daemon.until('nothing runs', async () => (await listPodSandbox(cri, {})).length === 0, patience);
    // Nine seconds were left at the most; all fifteen, given anew, would end later.
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(await listContainers(cri, {})).toEqual([]);
    await daemon.until('no cgroup', async () => (await cgroups.pods()).length === 0);
    await daemon.until('no folder', async () => (await readdir(join(daemon.rootDir, 'pods'))).length === 0);
    await daemon.until('no logs', async () => (await readdir(daemon.podLogsDir)).length === 0);
  });

  test('a process that the runtime has lost in the cgroup of a pod does not keep the pod', async () => {
    await daemon.put(noting('lost', FOREVER));
    await daemon.ready(named('lost'), patience);
    const own = (await cgroups.pods()).filter((path) => /\/pod[^/]+$/.test(path));
    const lost = spawn('sh', ['-c', 'trap "" TERM; while :; do sleep 1; done'], { stdio: 'ignore' });
    const ended = new Promise((resolve) => lost.on('exit', (_code, signal) => resolve(signal)));
    for (const path of own) await writeFile(join(path, 'cgroup.procs'), String(lost.pid));
    await daemon.remove(named('lost'));
    expect(await ended).toBe('SIGKILL');
    await daemon.until('no cgroup', async () => (await cgroups.pods()).length === 0, patience);
  });

  testOnPrivate.each([
    ['Never', /^ErrImageNeverPull$/, /is not present with pull policy of Never/],
    ['IfNotPresent', /^(ErrImagePull|ImagePullBackOff)$/, /localhost:1\/behind-ifnotpresent:1/],
  ] as const)(
    'B090 an image that is removed behind its running container: with %s the next start tells so, until it is back',
    async (imagePullPolicy, reason, message) => {
      const short = `behind-${imagePullPolicy.toLowerCase()}`;
      const image = `localhost:1/${short}:1`;
      const recipe = await busyboxImage([image], { Env: [`NAME=${short}`] });
      await runtime.addImage?.(recipe);
      const { metadata, spec } = noting(short, FOREVER);
      const containers = spec.containers.map((container) => ({ ...container, image, imagePullPolicy }));
      await daemon.put({ metadata, spec: { ...spec, containers } });
      const before = idOf(await daemon.ready(named(short), patience));
      await cri.call('removeImage', { image: ImageSpec.fromPartial({ image }) }, { deadlineMs: 20_000 });
      await daemon.until('the image is gone', async () => (await imageStatus(cri, image)) === undefined);
      expect(idOf(await daemon.ready(named(short)))).toBe(before);
      process.kill(await pidOf(before), 'SIGKILL');
      const told = ({ state }: ContainerStatus) =>
        reason.test(state?.waiting?.reason ?? '') && message.test(state?.waiting?.message ?? '');
      const waits = await daemon.podIs(named(short), 'without its image', (s) => told(main(s)), patience);
      expect(main(waits)).toMatchObject({ ready: false, lastState: { terminated: { exitCode: 137 } } });
      await runtime.addImage?.(recipe);
      await daemon.podIs(named(short), 'well again', restarted(before), 60_000);
    },
    120_000,
  );

  test('B110 the folder of a pod that is gone is removed after a start', async () => {
    const left = join(daemon.rootDir, 'pods/9d2f3c1a-0000-4000-8000-000000000001');
    await daemon.stop();
    await mkdir(join(left, 'volumes/kubernetes.io~empty-dir/data/deep'), { recursive: true });
    await daemon.start();
    await daemon.until('it is removed', () =>
      readFile(left).then(
        () => false,
        (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
      ),
    );
  }, 60_000);

  test('B022 B169 nothing is left at the end', async () => {
    await daemon.put(noting('last', FOREVER));
    await daemon.ready(named('last'), patience);
    await daemon.kill9();
    await daemon.remove(named('last'));
    await daemon.start();
    await daemon.until('no sandbox', async () => (await sandboxesOf('last')).length === 0);
    await daemon.until('no cgroup', async () => (await cgroups.pods()).length === 0);
    const containers = await listContainers(cri, {});
    expect(containers.filter(({ labels }) => labels['io.kubernetes.pod.name']?.startsWith(PREFIX))).toEqual([]);
  }, 60_000);

  /** The process of a container or a sandbox, by its cgroup. */
  async function pidOf(id: string): Promise<number> {
    const call =
      id &&
      (await cri
        .call('containerStatus', { containerId: id, verbose: true }, { deadlineMs: 5_000 })
        .catch(() => undefined));
    const info = call
      ? call.info
      : (await cri.call('podSandboxStatus', { podSandboxId: id, verbose: true }, { deadlineMs: 5_000 })).info;
    return (JSON.parse(info['info'] ?? '{}') as { pid: number }).pid;
  }
});

/** Of name `main` and this image, as kubelet 1.36 computes it. */
const KUBELET_HASH = '3408b2ef';
