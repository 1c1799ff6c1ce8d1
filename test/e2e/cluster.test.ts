import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiServer } from '../support/apiserver/server.ts';
import { Daemon, NODE_NAME } from '../support/daemon.ts';
import { EmbeddedProcess } from '../support/embedded-process.ts';
import { tearDown } from '../support/tear-down.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const NODE = NODE_NAME;

let directory: string;
let api: ApiServer;
let runtime: EmbeddedProcess;
let daemon: Daemon;
let admin: string;

const kubectl = async (...args: string[]): Promise<string> =>
  (await run('kubectl', ['--kubeconfig', admin, ...args])).stdout;
const get = async (...args: string[]) =>
  JSON.parse(await kubectl('get', '-o', 'json', ...args)) as { [k: string]: never };
const phaseOf = (name: string) => kubectl('get', 'pod', name, '-o', 'jsonpath={.status.phase}').catch(() => 'gone');

async function create(name: string, spec: object, metadata: object = {}): Promise<void> {
  const file = join(directory, `${name}.json`);
  const container = { name: 'c', image: 'busybox:1.35', imagePullPolicy: 'IfNotPresent', ...spec };
  await writeFile(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, ...metadata },
      spec: {
        nodeName: NODE,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 5,
        containers: [container],
      },
    }),
  );
  await kubectl('create', '-f', file);
}
const sleeps = { command: ['/bin/sh', '-c', "trap 'exit 0' TERM; sleep 1000 & wait"] };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-cluster-'));
  api = await ApiServer.start({ directory: join(directory, 'api') });
  admin = await api.admin();
  runtime = await EmbeddedProcess.start();
  daemon = await Daemon.start({
    endpoint: runtime.endpoint,
    flags: [`--kubeconfig=${await api.node(NODE)}`],
  });
}, 120_000);

afterAll(async () => {
  await tearDown(
    () => daemon.discard(),
    () => runtime.discard(),
    () => api.close(),
    () => rm(directory, { recursive: true, force: true }),
  );
}, 60_000);

describe('an agent in a cluster, seen by kubectl', () => {
  test('its node is registered, becomes Ready and has a lease', async () => {
    await until('as kubectl sees it', async () => (await kubectl('get', 'nodes')).includes(' Ready ') || undefined);
    const lease = (await get('lease', '-n', 'kube-node-lease', NODE)) as unknown as {
      spec: { holderIdentity: string };
      metadata: { ownerReferences: { kind: string; name: string }[] };
    };
    expect(lease.spec.holderIdentity).toBe(NODE);
    expect(lease.metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: NODE }]);
  }, 60_000);

  test('a pod that is bound to it runs, and its events tell how it came to', async () => {
    await create('web', sleeps);
    await until('as kubectl sees it', async () => (await phaseOf('web')) === 'Running' || undefined);
    const described = await until('as kubectl sees it', async () => {
      const text = await kubectl('describe', 'pod', 'web');
      return text.includes('Started') ? text : undefined;
    });
    expect(described).toMatch(/Ready +True/);
    expect(described).toMatch(/Normal +Created/);
  }, 60_000);

  test('a pod that is deleted ends in its grace and is gone', async () => {
    await kubectl('delete', 'pod', 'web', '--timeout=30s');
    expect(await phaseOf('web')).toBe('gone');
  }, 60_000);

  test('a pod that fails is Failed with the exit code of its container', async () => {
    const file = join(directory, 'fails.json');
    const container = {
      name: 'c',
      image: 'busybox:1.35',
      imagePullPolicy: 'IfNotPresent',
      command: ['/bin/sh', '-c', 'exit 3'],
    };
    const spec = {
      nodeName: NODE,
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      containers: [container],
    };
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'fails' }, spec }));
    await kubectl('create', '-f', file);
    await until('as kubectl sees it', async () => (await phaseOf('fails')) === 'Failed' || undefined);
    const code = await kubectl(
      'get',
      'pod',
      'fails',
      '-o',
      'jsonpath={.status.containerStatuses[0].state.terminated.exitCode}',
    );
    expect(code).toBe('3');
    await kubectl('delete', 'pod', 'fails', '--timeout=30s');
  }, 90_000);

  test('a pod that asks for more than the node has is refused, and can be deleted', async () => {
    await create('huge', { ...sleeps, resources: { requests: { cpu: '1000' } } });
    await until('as kubectl sees it', async () => (await phaseOf('huge')) === 'Failed' || undefined);
    expect(await kubectl('get', 'pod', 'huge', '-o', 'jsonpath={.status.reason}')).toBe('OutOfcpu');
    await kubectl('delete', 'pod', 'huge', '--timeout=30s');
  }, 90_000);

  test('a static pod has a mirror pod, which comes back when it is deleted and goes with its manifest', async () => {
    const manifest = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'st' },
      spec: { containers: [{ name: 'c', image: 'busybox:1.35', imagePullPolicy: 'IfNotPresent', ...sleeps }] },
    };
    const mirror = `st-${NODE}`;
    await daemon.put(manifest);
    await until('as kubectl sees it', async () => (await phaseOf(mirror)) === 'Running' || undefined);
    const uidOf = () => kubectl('get', 'pod', mirror, '-o', 'jsonpath={.metadata.uid}').catch(() => '');
    const before = await uidOf();
    await kubectl('delete', 'pod', mirror, '--wait=false');
    await until('as kubectl sees it', async () => {
      const now = await uidOf();
      return (now !== '' && now !== before) || undefined;
    });
    await daemon.remove('st');
    await until('as kubectl sees it', async () => (await phaseOf(mirror)) === 'gone' || undefined);
  }, 90_000);
});
