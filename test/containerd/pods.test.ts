import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFile, readdir, readlink, stat, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Cri } from '../../services/cri/client.ts';
import { containerStatus } from '../../services/cri/verbs/container-status.ts';
import { listContainers } from '../../services/cri/verbs/list-containers.ts';
import { version } from '../../services/cri/verbs/version.ts';
import { listPodSandbox } from '../../services/cri/verbs/list-pod-sandbox.ts';
import type { Container, ContainerStatus, PodSpec, PodStatus } from '../../machines/kubernetes.types.ts';
import { containerHash } from '../../machines/pod/policy/container-hash.ts';
import type { CgroupRoot } from '../support/cgroup-root.ts';
import { describeOnContainerd, RUNTIME_MS } from '../support/containerd-tier.ts';
import { condition, isReady, lines, NODE_NAME, type Daemon } from '../support/daemon.ts';
import { containerdNode } from '../support/node.ts';
import { BUSYBOX, FOREVER, shell, shellPod } from '../support/pods.ts';

jest.setTimeout(90_000);

const PREFIX = `shape${process.pid}`;

let node: Awaited<ReturnType<typeof containerdNode>>;
let cgroups: CgroupRoot;
let daemon: Daemon;
let cri: Cri;

const named = (name: string) => `${PREFIX}-${name}`;
const main = (status: PodStatus): ContainerStatus => {
  const [first] = status.containerStatuses ?? [];
  if (!first) throw new Error('the pod shows no container');
  return first;
};
const podUid = async (name: string) => (await daemon.pods()).get(named(name))?.metadata?.uid ?? '';

/** The words that a container wrote, from its log in the CRI format. */
async function output(name: string, container = 'main', attempt = 0): Promise<string[]> {
  const directory = join(daemon.podLogsDir, `default_${named(name)}-${NODE_NAME}_${await podUid(name)}`);
  const all = await lines(join(directory, container, `${attempt}.log`));
  return all.map((line) => {
    const [, text] = /^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] (.*)$/.exec(line) ?? [];
    if (text === undefined) throw new Error(`not in the CRI format: ${line}`);
    return text;
  });
}

function shapes(): Record<string, Partial<PodSpec>> {
  const one = (script: string, over: Partial<Container> = {}, spec: Partial<PodSpec> = {}) =>
    shellPod('', script, spec, over).spec as Partial<PodSpec>;
  const directory = daemon.directory;
  const data = { name: 'data', mountPath: '/data' };
  return {
    forever: one(FOREVER),
    restarts: one('sleep 0.5; exit 7'),
    succeeds: one('echo done', {}, { restartPolicy: 'Never' }),
    'on-failure': one('echo ok', {}, { restartPolicy: 'OnFailure' }),
    fails: one('exit 3', {}, { restartPolicy: 'Never' }),
    'bad-path': one('', { command: ['/no/such/program'] }),
    'no-image': one('', { image: 'example.com/absent:1', imagePullPolicy: 'Never' }),
    'says-file': one('printf "by file" > /dev/termination-log; exit 2', {}, { restartPolicy: 'Never' }),
    'says-log': one(
      'echo by log; exit 2',
      { terminationMessagePolicy: 'FallbackToLogsOnError' },
      { restartPolicy: 'Never' },
    ),
    oom: one(
      'tail /dev/zero; sleep 1; exit 143',
      { resources: { limits: { memory: '30Mi' } } },
      { restartPolicy: 'Never' },
    ),
    'oom-init': {
      restartPolicy: 'Never',
      initContainers: [shell('tail /dev/zero; exit 0', { name: 'init', resources: { limits: { memory: '20Mi' } } })],
      containers: [shell(FOREVER)],
    },
    environment: one(
      'echo "$GREETING"; echo "$@"; pwd; cat /proc/self/status; touch /ro 2>&1; hostname; exec sleep 100000',
      {
        env: [
          { name: 'WHO', value: 'node' },
          { name: 'GREETING', value: 'hello $(WHO) $$(WHO) $(MISSING)' },
        ],
        args: ['zero', 'arg $(WHO)'],
        workingDir: '/tmp',
        securityContext: {
          runAsUser: 1234,
          runAsGroup: 2345,
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
        },
      },
    ),
    limits: one(FOREVER, {
      resources: { requests: { cpu: '250m', memory: '16Mi' }, limits: { cpu: '500m', memory: '64Mi' } },
    }),
    host: one(`ls -l /proc/self/ns/net /proc/self/ns/pid; ${FOREVER}`, {}, { hostNetwork: true, hostPID: true }),
    volumes: one(
      `echo disk > /data/f; df -h /mem | tail -1; dd if=/dev/zero of=/mem/f bs=1M count=32 2>&1 | head -1; cat /file; ls /dir; ${FOREVER}`,
      {
        volumeMounts: [
          data,
          { name: 'memory', mountPath: '/mem' },
          { name: 'file', mountPath: '/file', readOnly: true },
          { name: 'directory', mountPath: '/dir' },
          { name: 'created', mountPath: '/created' },
        ],
      },
      {
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
          { name: 'file', hostPath: { path: join(directory, 'host-file'), type: 'File' } },
          { name: 'directory', hostPath: { path: directory, type: 'Directory' } },
          { name: 'created', hostPath: { path: join(directory, 'created'), type: 'FileOrCreate' } },
        ],
      },
    ),
    'wrong-type': one(
      FOREVER,
      { volumeMounts: [data] },
      { volumes: [{ name: 'data', hostPath: { path: '/proc/version', type: 'Directory' } }] },
    ),
    ordered: {
      volumes: [{ name: 'data', emptyDir: {} }],
      terminationGracePeriodSeconds: 10,
      initContainers: [
        shell('echo i1 >> /data/order', { name: 'i1', volumeMounts: [data] }),
        shell('echo s1 >> /data/order; trap "echo s1 ended; exit 0" TERM; sleep 86400 & wait', {
          name: 's1',
          restartPolicy: 'Always',
          volumeMounts: [data],
        }),
        shell('echo i2 >> /data/order', { name: 'i2', volumeMounts: [data] }),
      ],
      containers: [shell(`echo main >> /data/order; ${FOREVER}`, { volumeMounts: [data] })],
    },
    sidecar: {
      restartPolicy: 'Never',
      initContainers: [shell('sleep 1; exit 1', { name: 'side', restartPolicy: 'Always' })],
      containers: [shell(FOREVER)],
    },
    stuck: {
      terminationGracePeriodSeconds: 30,
      initContainers: [
        shell('trap "exit 0" TERM; sleep 86400 & wait', { name: 'side', restartPolicy: 'Always' }),
        shell('trap "exit 1" TERM; sleep 86400 & wait', { name: 'long' }),
      ],
      containers: [shell(FOREVER)],
    },
    two: { containers: [shell(FOREVER, { name: 'first' }), shell(FOREVER, { name: 'second' })] },
    graceful: one('trap "sleep 1; echo ended; exit 0" TERM; echo began; sleep 86400 & wait'),
  };
}

describeOnContainerd('pods of every shape on a real runtime, with the statuses of the kubelet', () => {
  beforeAll(async () => {
    node = await containerdNode(PREFIX);
    ({ cri, cgroups, daemon } = node);
    await writeFile(join(daemon.directory, 'host-file'), 'from the host\n');
    await daemon.start();
    for (const [name, spec] of Object.entries(shapes()))
      await daemon.put({ metadata: { name: named(name), labels: { tier: 'containerd' } }, spec });
  }, RUNTIME_MS);

  afterAll(() => node?.discard(), 90_000);

  const patience = 60_000;
  const ready = (name: string) => daemon.ready(named(name), patience);
  const phase = (name: string, wanted: string) => daemon.phase(named(name), wanted, patience);
  const podIs = (name: string, what: string, wanted: (status: PodStatus) => boolean) =>
    daemon.podIs(named(name), what, wanted, patience);

  test('one that goes on is Running and Ready, with address, times and identities', async () => {
    const status = await ready('forever');
    expect(status).toMatchObject({ phase: 'Running', qosClass: 'BestEffort' });
    for (const type of ['PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'PodScheduled'])
      expect([type, condition(status, type)]).toEqual([type, 'True']);
    expect(isIP(status.podIP ?? '')).not.toBe(0);
    expect(status.podIP).not.toBe(status.hostIP);
    expect(Date.parse(status.startTime ?? '')).toBeLessThanOrEqual(Date.now());
    expect(main(status)).toMatchObject({ image: BUSYBOX, ready: true, started: true, restartCount: 0, lastState: {} });
    const { runtimeName } = await version(cri);
    expect(main(status).containerID).toMatch(new RegExp(`^${runtimeName}://[0-9a-f]{64}$`));
    expect(main(status).imageID).toMatch(/sha256:[0-9a-f]{64}$/);
    expect(Date.parse(main(status).state?.running?.startedAt ?? '')).toBeGreaterThan(Date.now() - 300_000);
  });

  test('one that ends is started again and then backs off, with its last state', async () => {
    const status = await podIs('restarts', 'backing off', (s) => {
      const { state, restartCount = 0 } = main(s);
      return restartCount > 0 && state?.waiting?.reason === 'CrashLoopBackOff';
    });
    expect(status.phase).toBe('Running');
    expect(isReady(status)).toBe(false);
    expect(main(status).state?.waiting?.message).toMatch(/^back-off 10s restarting failed container=main pod=/);
    expect(main(status).lastState?.terminated).toMatchObject({ exitCode: 7, reason: 'Error' });
    expect(main(status).lastState?.terminated?.containerID).toBe(main(status).containerID);
  });

  test.each([
    ['succeeds', 'Succeeded', 0, 'Completed'],
    ['on-failure', 'Succeeded', 0, 'Completed'],
    ['fails', 'Failed', 3, 'Error'],
  ])('one that %s is %s with exit code %i and reason %s', async (name, wanted, exitCode, reason) => {
    const status = await phase(name, wanted);
    expect(main(status)).toMatchObject({ ready: false, restartCount: 0, state: { terminated: { exitCode, reason } } });
    const { startedAt = '', finishedAt = '' } = main(status).state?.terminated ?? {};
    // containerd notes the start of a process once it has answered, which may be after the end of one so short.
    expect(Date.parse(finishedAt)).toBeGreaterThanOrEqual(Date.parse(startedAt) - 1000);
    expect(condition(status, 'Ready')).toBe('False');
  });

  test('B086 a container with exit code 0 is Completed', async () => {
    expect(main(await phase('on-failure', 'Succeeded')).state?.terminated?.reason).toBe('Completed');
  });

  test('B090 a bad command path is told with its path', async () => {
    const status = await podIs('bad-path', 'backing off', (s) => main(s).state?.waiting?.reason === 'CrashLoopBackOff');
    const full = `${named('bad-path')}-${NODE_NAME}_default(${await podUid('bad-path')})`;
    expect(main(status).state?.waiting?.message).toMatch(
      new RegExp(`^back-off [124]0s restarting failed container=main pod=${full.replace(/[()]/g, '\\$&')}$`),
    );
    expect(status.phase).toBe('Running');
    expect(daemon.log).toMatch(new RegExp(`Error: .*no/such/program.*${named('bad-path')}`));
    expect(main(status).lastState?.terminated).toMatchObject({ exitCode: 128, reason: 'StartError' });
    expect(main(status).lastState?.terminated?.message).toContain('/no/such/program');
  });

  test('B090 an image that is not there, with policy Never, is told with its name', async () => {
    const status = await podIs('no-image', 'waiting', (s) => main(s).state?.waiting?.reason === 'ErrImageNeverPull');
    expect(status.phase).toBe('Pending');
    expect(main(status).state?.waiting?.message).toContain('example.com/absent:1');
  });

  test('termination messages come from the file, and where so wanted from the log', async () => {
    expect(main(await phase('says-file', 'Failed')).state?.terminated?.message).toBe('by file');
    expect(main(await phase('says-log', 'Failed')).state?.terminated?.message).toBe('by log\n');
  });

  test('B080 an OOM kill is told, and the exit code is kept as it is', async () => {
    expect(main(await phase('oom', 'Failed')).state?.terminated).toMatchObject({ reason: 'OOMKilled', exitCode: 143 });
  });

  test('B038 an init container that lost a process for want of memory fails its pod, whatever its exit code', async () => {
    const status = await phase('oom-init', 'Failed');
    expect(status.initContainerStatuses?.[0]?.state?.terminated).toMatchObject({ reason: 'OOMKilled' });
  });

  test('environment, arguments, directory, user, capabilities and a root that is read only', async () => {
    await ready('environment');
    const said = await daemon.until('it has said all', async () => {
      const all = await output('environment');
      return all.includes(named(`environment-${NODE_NAME}`)) && all;
    });
    expect(said.slice(0, 3)).toEqual(['hello node $(WHO) $(MISSING)', 'arg node', '/tmp']);
    const field = (name: string) =>
      said
        .find((line) => line.startsWith(`${name}:`))
        ?.split(/\s+/)
        .slice(1);
    expect(field('Uid')).toEqual(['1234', '1234', '1234', '1234']);
    expect(field('Gid')).toEqual(['2345', '2345', '2345', '2345']);
    expect(field('CapBnd')).toEqual(['0000000000000400']);
    expect(field('NoNewPrivs')).toEqual(['1']);
    expect(said).toContain('touch: /ro: Read-only file system');
  });

  test('requests and limits are in the cgroups of the container and of its pod', async () => {
    const status = await ready('limits');
    expect(status.qosClass).toBe('Burstable');
    const pod = join('kubepods', 'burstable', `pod${await podUid('limits')}`);
    const container = join(pod, main(status).containerID?.replace(/^.*:\/\//, '') ?? '');
    const read = cgroups.version === 1 ? readV1 : readV2;
    for (const path of [pod, container]) expect([path, await read(path)]).toEqual([path, expectedLimits()]);
  });

  const expectedLimits = () =>
    cgroups.version === 1
      ? { shares: '256', quota: '50000', memory: String(64 * 1024 * 1024) }
      : { quota: '50000 100000', memory: String(64 * 1024 * 1024) };
  const readV1 = async (path: string) => ({
    shares: await cgroups.read('cpu', path, 'cpu.shares'),
    quota: await cgroups.read('cpu', path, 'cpu.cfs_quota_us'),
    memory: await cgroups.read('memory', path, 'memory.limit_in_bytes'),
  });
  const readV2 = async (path: string) => ({
    quota: await cgroups.read('', path, 'cpu.max'),
    memory: await cgroups.read('', path, 'memory.max'),
  });

  test('a pod of the host shares its network and its processes', async () => {
    const status = await ready('host');
    expect(status.podIP).toBe(status.hostIP);
    const [net, pid] = await Promise.all(['net', 'pid'].map((kind) => readlink(`/proc/self/ns/${kind}`)));
    const said = (await output('host')).join('\n');
    expect(said).toContain(`${net}`);
    expect(said).toContain(`${pid}`);
  });

  test('B111 B108 volumes: on disk, in memory with its limit, and host paths of every type', async () => {
    await ready('volumes');
    const volumes = join(daemon.rootDir, 'pods', await podUid('volumes'), 'volumes/kubernetes.io~empty-dir');
    const said = await daemon.until('it has said all', async () => {
      const all = await output('volumes');
      return all.includes('manifests') && all;
    });
    expect(await lines(join(volumes, 'data/f'))).toEqual(['disk']);
    expect(said.join('\n')).toMatch(/16\.0M/);
    expect(said.join('\n')).toMatch(/No space left on device/);
    expect(said).toContain('from the host');
    const created = await stat(join(daemon.directory, 'created'));
    expect([created.isFile(), created.size, created.mode & 0o777]).toEqual([true, 0, 0o644]);
  });

  test('a host path of another type is told, and the pod waits', async () => {
    await daemon.until('it is told', () => /FailedMount.*wrong-type/.test(daemon.log));
    expect((await daemon.status(named('wrong-type')))?.phase).toBe('Pending');
  });

  test('B041 init containers run in their order, sidecars with them, and then the main container', async () => {
    const status = await ready('ordered');
    const volume = join(daemon.rootDir, 'pods', await podUid('ordered'), 'volumes/kubernetes.io~empty-dir/data');
    await daemon.until('main has written', async () => (await lines(join(volume, 'order'))).includes('main'));
    expect(await lines(join(volume, 'order'))).toEqual(['i1', 's1', 'i2', 'main']);
    expect(status.initContainerStatuses).toMatchObject([
      { name: 'i1', ready: true, state: { terminated: { reason: 'Completed' } } },
      { name: 's1', ready: true, started: true, state: { running: {} } },
      { name: 'i2', ready: true, state: { terminated: { reason: 'Completed' } } },
    ]);
  });

  test('B030 a sidecar that fails in a Never pod runs again, and the pod has not failed', async () => {
    // On a busy node it may run again before the container beside it has begun.
    const restarted = (s: PodStatus) => s.phase !== 'Pending' && (s.initContainerStatuses?.[0]?.restartCount ?? 0) > 0;
    const status = await podIs('sidecar', 'restarted', restarted);
    expect(status.phase).toBe('Running');
    expect(status.initContainerStatuses?.[0]?.lastState?.terminated).toMatchObject({ exitCode: 1 });
  });

  test('B026 a pod that ends while it initialises stops its sidecar by TERM, after the init container', async () => {
    await podIs('stuck', 'initialising', (s) => s.initContainerStatuses?.[1]?.state?.running !== undefined);
    await daemon.remove(named('stuck'));
    const began = performance.now();
    await daemon.gone(named('stuck'), 25_000);
    // Thirty seconds of grace are not waited for.
    expect(performance.now() - began).toBeLessThan(25_000);
  });

  test('one that is removed ends in its grace', async () => {
    await ready('graceful');
    const links = await logLinks('graceful');
    const log = await readlink(join(daemon.containerLogsDir, links[0] ?? ''));
    expect(log).toBe(
      join(daemon.podLogsDir, `default_${named('graceful')}-${NODE_NAME}_${await podUid('graceful')}`, 'main/0.log'),
    );
    expect(await output('graceful')).toEqual(['began']);
    const seen: string[] = [];
    await daemon.remove(named('graceful'));
    await daemon.until('it is gone', async () => {
      const text = await readFile(log, 'utf8').catch(() => '');
      if (/ended/.test(text)) seen.push('ended');
      return !(await daemon.pods()).has(named('graceful'));
    });
    expect(seen).toContain('ended');
    expect(await logLinks('graceful')).toEqual([]);
  });

  test('labels and annotations are those of the kubelet', async () => {
    const uid = await podUid('forever');
    const labels = {
      'io.kubernetes.pod.name': `${named('forever')}-${NODE_NAME}`,
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': uid,
    };
    const [sandbox] = await listPodSandbox(cri, { 'io.kubernetes.pod.uid': uid });
    expect(sandbox?.labels).toEqual({ ...labels, tier: 'containerd' });
    expect(sandbox?.annotations).toMatchObject({
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.hash': uid,
      'kubernetes.io/config.seen': expect.stringMatching(/^\d{4}-/) as unknown,
    });
    const [container] = await listContainers(cri, { labels: { 'io.kubernetes.pod.uid': uid } });
    const found = await containerStatus(cri, container?.id ?? '');
    expect(found.labels).toEqual({ ...labels, 'io.kubernetes.container.name': 'main' });
    expect(found.annotations).toEqual({
      'io.kubernetes.container.hash': containerHash({ name: 'main', image: BUSYBOX }),
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.terminationGracePeriod': '5',
    });
  });

  describe('at the end', () => {
    test('B022 B169 nothing is left: no container, sandbox, cgroup, mount, folder or link', async () => {
      // Two that are taken away in the middle of their start.
      for (const name of ['late-a', 'late-b']) await daemon.put(shellPod(named(name), FOREVER));
      await daemon.until('they are known', async () => (await daemon.pods()).has(named('late-b')));
      await daemon.empty();
      const mine = { tier: 'containerd' };
      await daemon.until('the runtime has none', async () => (await listPodSandbox(cri, mine)).length === 0, patience);
      const containers = await listContainers(cri, {});
      expect(containers.filter(({ labels }) => labels['io.kubernetes.pod.name']?.startsWith(PREFIX))).toEqual([]);
      await daemon.until('no cgroup', async () => (await cgroups.pods()).length === 0);
      expect(await readdir(join(daemon.rootDir, 'pods'))).toEqual([]);
      await daemon.until('no logs', async () => (await readdir(daemon.podLogsDir)).length === 0);
      expect((await readFile('/proc/self/mountinfo', 'utf8')).includes(daemon.directory)).toBe(false);
      expect(await readdir(daemon.containerLogsDir)).toEqual([]);
    }, 120_000);
  });

  async function logLinks(name: string): Promise<string[]> {
    const links = await readdir(daemon.containerLogsDir);
    return links.filter((link) => link.startsWith(`${named(name)}-${NODE_NAME}_default_main-`));
  }
});
