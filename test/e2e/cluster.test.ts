import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeKubectl, Kubectl } from '../support/apiserver/kubectl.ts';
import { ApiServer } from '../support/apiserver/server.ts';
import { Daemon, NODE_NAME } from '../support/daemon.ts';
import { EmbeddedProcess } from '../support/embedded-process.ts';
import { tearDown } from '../support/tear-down.ts';
import { until } from '../support/until.ts';

const NODE = NODE_NAME;

let directory: string;
let api: ApiServer;
let runtime: EmbeddedProcess;
let daemon: Daemon;
let kubectl: Kubectl;

const phaseOf = (name: string) => kubectl.run('get', 'pod', name, '-o', 'jsonpath={.status.phase}').catch(() => 'gone');

/** A pod of one container that is bound to the node. */
function bound(name: string, container: object, spec: object = {}): object {
  const containers = [{ name: 'c', image: 'busybox:1.35', imagePullPolicy: 'IfNotPresent', ...container }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      nodeName: NODE,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 5,
      containers,
      ...spec,
    },
  };
}
const sleeps = { command: ['/bin/sh', '-c', "trap 'exit 0' TERM; sleep 1000 & wait"] };

describeKubectl('an agent in a cluster, seen by kubectl', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'statelet-cluster-'));
    api = await ApiServer.start({ directory: join(directory, 'api') });
    kubectl = new Kubectl(await api.admin());
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

  test('its node is registered, becomes Ready and has a lease', async () => {
    await until('as kubectl sees it', async () => (await kubectl.run('get', 'nodes')).includes(' Ready ') || undefined);
    const lease = await kubectl.get<{
      spec: { holderIdentity: string };
      metadata: { ownerReferences: { kind: string; name: string }[] };
    }>('lease', '-n', 'kube-node-lease', NODE);
    expect(lease.spec.holderIdentity).toBe(NODE);
    expect(lease.metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: NODE }]);
  }, 60_000);

  test('a pod that is bound to it runs, and its events tell how it came to', async () => {
    await kubectl.create(bound('web', sleeps));
    await until('as kubectl sees it', async () => (await phaseOf('web')) === 'Running' || undefined);
    const described = await until('as kubectl sees it', async () => {
      const text = await kubectl.run('describe', 'pod', 'web');
      return text.includes('Started') ? text : undefined;
    });
    expect(described).toMatch(/Ready +True/);
    expect(described).toMatch(/Normal +Created/);
  }, 60_000);

  test('a pod that is deleted ends in its grace and is gone', async () => {
    await kubectl.run('delete', 'pod', 'web', '--timeout=30s');
    expect(await phaseOf('web')).toBe('gone');
  }, 60_000);

  test('a pod that fails is Failed with the exit code of its container', async () => {
    await kubectl.create(bound('fails', { command: ['/bin/sh', '-c', 'exit 3'] }, { restartPolicy: 'Never' }));
    await until('as kubectl sees it', async () => (await phaseOf('fails')) === 'Failed' || undefined);
    const code = await kubectl.run(
      'get',
      'pod',
      'fails',
      '-o',
      'jsonpath={.status.containerStatuses[0].state.terminated.exitCode}',
    );
    expect(code).toBe('3');
    await kubectl.run('delete', 'pod', 'fails', '--timeout=30s');
  }, 90_000);

  test('a pod that asks for more than the node has is refused, and can be deleted', async () => {
    await kubectl.create(bound('huge', { ...sleeps, resources: { requests: { cpu: '1000' } } }));
    await until('as kubectl sees it', async () => (await phaseOf('huge')) === 'Failed' || undefined);
    expect(await kubectl.run('get', 'pod', 'huge', '-o', 'jsonpath={.status.reason}')).toBe('OutOfcpu');
    await kubectl.run('delete', 'pod', 'huge', '--timeout=30s');
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
    const uidOf = () => kubectl.run('get', 'pod', mirror, '-o', 'jsonpath={.metadata.uid}').catch(() => '');
    const before = await uidOf();
    await kubectl.run('delete', 'pod', mirror, '--wait=false');
    await until('as kubectl sees it', async () => {
      const now = await uidOf();
      return (now !== '' && now !== before) || undefined;
    });
    await daemon.remove('st');
    await until('as kubectl sees it', async () => (await phaseOf(mirror)) === 'gone' || undefined);
  }, 90_000);
});
