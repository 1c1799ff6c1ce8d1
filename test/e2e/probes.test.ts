import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Container, Pod } from '../../machines/kubernetes.types.ts';
import { describeKubectl } from '../support/apiserver/kubectl.ts';
import { ClusterRig } from '../support/cluster-rig.ts';
import { lines } from '../support/daemon.ts';

/** What the server that stands for a container's own answers. */
let status = 200;
let rig: ClusterRig;
let server: Server;
let port: number;
const asked: string[] = [];

const bind = (name: string, over: Partial<Container>, script?: string, spec = {}) =>
  rig.kubectl.create(rig.pod(name, script === undefined ? {} : { script }, spec, over));
const see = (name: string, path: string) => rig.see('pod', name, path);
const container = (name: string, field: string) => see(name, `{.status.containerStatuses[0].${field}}`);
const is = (name: string, field: string, value: string) =>
  rig.until(`${field} of ${name} is ${value}`, async () => (await container(name, field)) === value);
/** What the API's watch told of a pod since a revision. */
async function changesOf(name: string, since: string): Promise<Pod[]> {
  const query = `watch=1&resourceVersion=${since}&fieldSelector=metadata.name%3D${name}&timeoutSeconds=1`;
  const told = await rig.kubectl.run('get', '--raw', `/api/v1/namespaces/${rig.cluster.namespace}/pods?${query}`);
  return told.split('\n').filter(Boolean).map((line) => (JSON.parse(line) as { object: Pod }).object); // prettier-ignore
}
const events = (name: string, reason: string) =>
  rig.kubectl
    .run(
      'get',
      'events',
      `--field-selector=involvedObject.name=${name},reason=${reason}`,
      '-o',
      'jsonpath={.items[*].message}',
    )
    .catch(() => '');
/** The host, as a container of the embedded runtime shares its network. */
const httpGet = () => ({
  httpGet: { host: '127.0.0.1', port, path: '/healthz?full', httpHeaders: [{ name: 'X-Who', value: 'somebody' }] },
});

describeKubectl('probes of an agent in a cluster, seen by kubectl', () => {
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['user-agent']} ${request.headers['x-who']}`);
      response.writeHead(status).end('words of the server');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    ({ port } = server.address() as AddressInfo);
    rig = await ClusterRig.onEmbedded();
  }, 180_000);

  afterAll(async () => {
    server?.close();
    await rig?.discard();
  }, 120_000);

  test('Ready follows the readiness probe, and the event says what it saw', async () => {
    status = 503;
    await bind('follows', { readinessProbe: { ...httpGet(), periodSeconds: 1, failureThreshold: 1 } });
    await rig.until('the failure is told', async () =>
      (await events('follows', 'Unhealthy')).includes('Readiness probe failed: HTTP probe failed with statuscode: 503'),
    );
    expect([await container('follows', 'ready'), await container('follows', 'started')]).toEqual(['false', 'true']);
    expect(asked[0]).toMatch(/^GET \/healthz\?full kube-probe\/1\.36 somebody$/);
    status = 200;
    await rig.kubectl.run('wait', '--for=condition=Ready', 'pod/follows', '--timeout=50s');
    status = 500;
    await rig.kubectl.run('wait', '--for=condition=Ready=false', 'pod/follows', '--timeout=50s');
    expect(await container('follows', 'restartCount')).toBe('0');
    status = 200;
  }, 120_000);

  test('B059 no start of the agent makes a container unready that ran on', async () => {
    await bind('steady', { readinessProbe: { exec: { command: ['true'] }, periodSeconds: 30 } });
    await rig.kubectl.run('wait', '--for=condition=Ready', 'pod/steady', '--timeout=50s');
    const since = await see('steady', '{.metadata.resourceVersion}');
    const id = await container('steady', 'containerID');
    for (let i = 0; i < 5; i++) await rig.killAgent();
    // A pod that comes after the restarts is taken in once the first is known again.
    await rig.create('after');
    await rig.kubectl.run('wait', '--for=condition=Ready', 'pod/after', '--timeout=50s');
    const changes = await changesOf('steady', since);
    const ready = changes.map(({ status: now }) => now?.conditions?.find(({ type }) => type === 'Ready')?.status);
    expect(ready).not.toContain('False');
    expect([await container('steady', 'containerID'), await container('steady', 'ready')]).toEqual([id, 'true']);
  }, 180_000);

  test('B062 a startup that was passed is not asked for again by another agent', async () => {
    const file = `${rig.daemon.directory}/booted`;
    const startupProbe = { exec: { command: ['test', '-f', file] }, periodSeconds: 1, failureThreshold: 3 };
    await bind('boots', { startupProbe }, `touch ${file}; sleep 3; rm ${file}; exec sleep 86400`);
    await is('boots', 'started', 'true');
    const id = await container('boots', 'containerID');
    await rig.until('its sign of startup is gone', async () => !existsSync(file));
    await rig.killAgent();
    await sleep(5_000);
    expect([await container('boots', 'started'), await container('boots', 'containerID')]).toEqual(['true', id]);
    expect(await events('boots', 'Killing')).toBe('');
  }, 120_000);

  test('B049 liveness restarts a container, and the next one has to start anew', async () => {
    const up = `${rig.daemon.directory}/up`;
    const alive = `${rig.daemon.directory}/alive`;
    const exec = (file: string) => ({ exec: { command: ['test', '-f', file] }, periodSeconds: 1, failureThreshold: 2 });
    const script = `touch ${up} ${alive}; trap "exit 0" TERM; while :; do sleep 0.2; done`;
    await bind('lives', { startupProbe: { ...exec(up), failureThreshold: 30 }, livenessProbe: exec(alive) }, script);
    await is('lives', 'started', 'true');
    const since = await see('lives', '{.metadata.resourceVersion}');
    await rm(alive);
    await is('lives', 'restartCount', '1');
    await is('lives', 'started', 'true');
    const [first] = (await changesOf('lives', since))
      .map(({ status: now }) => now?.containerStatuses?.[0])
      .filter((each) => each?.restartCount === 1 && each.state?.running);
    expect(first).toMatchObject({ started: false, ready: false });
    expect(await events('lives', 'Killing')).toContain('Container main failed liveness probe, will be restarted');
    expect(await see('lives', '{.status.containerStatuses[0].lastState.terminated.exitCode}')).toBe('0');
  }, 120_000);

  test('B043 B044 a command that takes longer than timeoutSeconds has failed', async () => {
    const command = { exec: { command: ['sleep', '1000'] }, timeoutSeconds: 1, periodSeconds: 1 };
    await bind('slow', { livenessProbe: { ...command, failureThreshold: 2 }, readinessProbe: command });
    await is('slow', 'restartCount', '1');
    expect(await container('slow', 'ready')).toBe('false');
    expect(await events('slow', 'Unhealthy')).toMatch(/Liveness probe failed: command timed out/);
  }, 120_000);

  test('B046 B047 while a pod ends its readiness is asked on, to the end of each command, and liveness is not', async () => {
    const ok = `${rig.daemon.directory}/ok`;
    const asks = (word: string) => ({
      exec: { command: ['sh', '-c', `echo ${word} >> ${ok}.asked; sleep 0.5; test -f ${ok}`] },
      periodSeconds: 1,
      timeoutSeconds: 5,
      failureThreshold: 1,
    });
    const probes = { readinessProbe: asks('readiness'), livenessProbe: asks('liveness') };
    const script = `touch ${ok}; trap "sleep 6; exit 0" TERM; while :; do sleep 0.1; done`;
    await bind('ends', probes, script, { terminationGracePeriodSeconds: 30 });
    await rig.kubectl.run('wait', '--for=condition=Ready', 'pod/ends', '--timeout=50s');
    const since = await see('ends', '{.metadata.resourceVersion}');
    await rig.remove('ends');
    await rig.until('it is told to end', async () => (await see('ends', '{.metadata.deletionTimestamp}')) !== '');
    await sleep(1_500);
    const known = (await lines(`${ok}.asked`)).length;
    await sleep(2_000);
    expect(new Set((await lines(`${ok}.asked`)).slice(known))).toEqual(new Set(['readiness']));
    const ready = (changes: Pod[]) =>
      changes.flatMap(({ status: now }) => now?.conditions?.find(({ type }) => type === 'Ready')?.status ?? []);
    expect(ready(await changesOf('ends', since))).not.toContain('False');
    await rm(ok);
    await rig.until('it is shown not ready before it has ended', async () =>
      (await see('ends', '{.status.containerStatuses[0].state.running}{.status.containerStatuses[0].ready}')).endsWith(
        'false',
      ),
    );
    expect(await events('ends', 'Unhealthy')).not.toMatch(/Liveness|errored/);
    await rig.until('it is gone', async () => (await see('ends', '{.metadata.name}')) === '');
  }, 120_000);

  test('explain names the probe that holds a container back, and what it said', async () => {
    await bind('told', {
      readinessProbe: { exec: { command: ['sh', '-c', 'echo no database; exit 1'] }, periodSeconds: 1 },
    });
    await rig.until('its failure is told', async () => (await events('told', 'Unhealthy')).includes('no database'));
    const { headline } = await rig.until('explain has it', async () => {
      const { stdout } = await rig.daemon
        .command('explain', 'pod', `${rig.cluster.namespace}/told`, '--root-dir', rig.daemon.rootDir, '--json')
        .catch((error: unknown) => error as { stdout: string });
      const explained = JSON.parse(stdout) as { headline: string };
      return explained.headline.includes('is not ready') && explained;
    });
    expect(headline).toMatch(/container main runs and is not ready: its readiness probe failed .*\(no database/s);
  }, 60_000);
});
