import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { Container, ContainerStatus, PodStatus, Probe } from '../../machines/kubernetes.types.ts';
import { execSync } from '../../services/cri/verbs/exec-sync.ts';
import { describeOnContainerd, RUNTIME_MS } from '../support/containerd-tier.ts';
import { condition, isReady, type Daemon } from '../support/daemon.ts';
import { containerdNode } from '../support/node.ts';
import { shellPod } from '../support/pods.ts';

jest.setTimeout(120_000);

const PREFIX = `probe${process.pid}`;
const named = (name: string) => `${PREFIX}-${name}`;

let node: Awaited<ReturnType<typeof containerdNode>>;
let daemon: Daemon;

const WAIT = 'trap "exit 0" TERM; while :; do sleep 0.2; done';
const put = (name: string, probes: Partial<Container>, script = WAIT) =>
  daemon.put(shellPod(named(name), script, {}, probes));
const exec = (command: string, over: Probe = {}): Probe => ({
  exec: { command: ['sh', '-c', command] },
  periodSeconds: 1,
  ...over,
});
const main = (status: PodStatus): ContainerStatus => {
  const [first] = status.containerStatuses ?? [];
  if (!first) throw new Error('the pod shows no container');
  return first;
};
const idOf = (status: PodStatus) => main(status).containerID?.replace(/^.*:\/\//, '') ?? '';
const is = (name: string, what: string, wanted: (own: ContainerStatus) => boolean) =>
  daemon.podIs(
    named(name),
    what,
    (status) => status.containerStatuses?.[0] !== undefined && wanted(main(status)),
    60_000,
  );
/** Runs a command in the container of a pod, as a test's own way to change what a probe sees. */
const inside = async (status: PodStatus, command: string) =>
  (await execSync(node.cri, idOf(status), ['sh', '-c', command], 10)).output;

describeOnContainerd('probes on a real runtime', () => {
  beforeAll(async () => {
    node = await containerdNode(PREFIX);
    ({ daemon } = node);
    await daemon.start();
  }, RUNTIME_MS);

  afterEach(() => daemon.empty(), 60_000);

  afterAll(() => node?.discard(), 90_000);

  test('commands, HTTP and TCP reach the container in its own network, by number and by name of a port', async () => {
    const httpd = 'mkdir /www; echo fine > /www/healthz; httpd -p 8080 -h /www; ' + WAIT;
    const ports = [{ name: 'web', containerPort: 8080 }];
    await put(
      'reach',
      {
        ports,
        startupProbe: { tcpSocket: { port: 'web' }, periodSeconds: 1, failureThreshold: 30 },
        livenessProbe: { httpGet: { port: 8080, path: '/healthz' }, periodSeconds: 1 },
        readinessProbe: exec('test -f /www/healthz'),
      },
      httpd,
    );
    const status = await daemon.ready(named('reach'), 60_000);
    expect(main(status)).toMatchObject({ started: true, ready: true, restartCount: 0 });
    await inside(status, 'mv /www/healthz /www/gone');
    await is('reach', 'restarted by its liveness', (own) => own.restartCount === 1 && own.ready);
    expect(daemon.log).toMatch(/Readiness probe failed/);
    expect(daemon.log).toMatch(/Liveness probe failed: HTTP probe failed with statuscode: 404/);
    expect(daemon.log).toMatch(/Container main failed liveness probe, will be restarted/);
  });

  test('B059 B060 ready stays ready through starts of the agent', async () => {
    await put('stays', { readinessProbe: exec('true', { initialDelaySeconds: 8, periodSeconds: 30 }) });
    const before = await daemon.ready(named('stays'), 60_000);
    for (const end of ['stop', 'kill9', 'kill9'] as const) {
      await daemon[end]();
      await daemon.start();
      const first = await daemon.podIs(named('stays'), 'known', (status) => status.containerStatuses !== undefined);
      expect([idOf(first), condition(first, 'Ready'), main(first)]).toEqual([
        idOf(before),
        'True',
        expect.objectContaining({ ready: true, started: true, restartCount: 0 }),
      ]);
    }
  });

  test('B053 B043 a command that is not over in time is killed, and its processes with it', async () => {
    const slow = exec('sleep 1000', { timeoutSeconds: 1, failureThreshold: 8 });
    await put('slow', { readinessProbe: slow, livenessProbe: slow });
    await daemon.until(
      'several have timed out',
      () => (daemon.log.match(/command timed out/g)?.length ?? 0) > 6,
      60_000,
    );
    const status = await is('slow', 'running', (own) => own.state?.running !== undefined);
    expect(isReady(status)).toBe(false);
    const sleeping = (await inside(status, 'ps | grep "sleep 1000" | grep -v grep | wc -l')).trim();
    // Two probes, each with a shell that became the sleep: at most those that are under way now.
    expect(Number(sleeping)).toBeLessThanOrEqual(2);
    await is('slow', 'restarted', (own) => own.restartCount > 0);
  });

  test('a probe of a container that cannot be asked changes nothing', async () => {
    await put('absent', { readinessProbe: { exec: { command: ['/no/such/command'] }, periodSeconds: 1 } });
    await daemon.until('it is told', () => /Readiness probe errored|Readiness probe failed/.test(daemon.log), 60_000);
    const status = await is('absent', 'running', (own) => own.state?.running !== undefined);
    expect(main(status)).toMatchObject({ ready: false, started: true, restartCount: 0 });
  });
});
