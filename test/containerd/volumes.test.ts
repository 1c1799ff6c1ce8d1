import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container, Pod, PodSpec } from '../../machines/kubernetes.types.ts';
import { mountsBelow, readMounts } from '../../services/host/mounts.ts';
import { describeKubectl } from '../support/apiserver/kubectl.ts';
import { testCluster, type Cluster } from '../support/cluster.ts';
import { describeOnContainerd, RUNTIME_MS } from '../support/containerd-tier.ts';
import { lines, type Daemon } from '../support/daemon.ts';
import { containerdNode } from '../support/node.ts';
import { FOREVER, shell } from '../support/pods.ts';
import { tearDown } from '../support/tear-down.ts';

jest.setTimeout(90_000);

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const GROUP = 4711;

let cluster: Cluster;
let node: Awaited<ReturnType<typeof containerdNode>>;
let daemon: Daemon;

const pod = (name: string, script: string, spec: Partial<PodSpec> = {}, over: Partial<Container> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    nodeName: cluster.nodeName,
    terminationGracePeriodSeconds: 2,
    automountServiceAccountToken: false,
    containers: [shell(`${script}\n${FOREVER}`, over)],
    ...spec,
  },
});
const uidOf = async (name: string) => (await cluster.kubectl.get<Pod>('pod', name)).metadata?.uid ?? '';
const running = (name: string) =>
  daemon.until(`${name} runs`, async () => (await cluster.kubectl.get<Pod>('pod', name)).status?.phase === 'Running');
const logOf = async (name: string) => {
  const folder = join(daemon.podLogsDir, `${cluster.namespace}_${name}_${await uidOf(name)}`, 'main');
  return (await lines(join(folder, '0.log'))).map((line) => line.split(' ').slice(3).join(' '));
};
const volume = async (name: string, ...path: string[]) =>
  join(daemon.rootDir, 'pods', await uidOf(name), 'volumes', ...path);

const group = () => {
  beforeAll(async () => {
    cluster = await testCluster();
    node = await containerdNode('vols', { nodeName: cluster.nodeName, flags: [`--kubeconfig=${cluster.kubeconfig}`] });
    daemon = node.daemon;
    await daemon.start();
    await cluster.kubectl.run('create', 'configmap', 'settings', '--from-literal=color=red');
    await cluster.kubectl.run('create', 'secret', 'generic', 'keys', '--from-literal=password=hunter2');
  }, RUNTIME_MS);

  afterAll(async () => {
    await tearDown(
      () => cluster.kubectl.run('delete', 'pods', '--all', '--timeout=30s'),
      () => node.discard(),
      () => cluster.close(),
    );
  }, RUNTIME_MS);

  test('a default pod finds its token, its authority and its namespace where every client looks for them', async () => {
    const script = `cut -c1-3 ${ACCOUNT}/token; head -1 ${ACCOUNT}/ca.crt; cat ${ACCOUNT}/namespace; echo; touch ${ACCOUNT}/x || echo read-only`;
    await cluster.kubectl.create(pod('plain', script, { automountServiceAccountToken: undefined }));
    await running('plain');
    await daemon.until('it has written', async () => (await logOf('plain')).includes('read-only'));
    const said = await logOf('plain');
    expect(said).toEqual(expect.arrayContaining(['eyJ', '-----BEGIN CERTIFICATE-----', cluster.namespace]));
  });

  test('a secret lies in memory, is the fsGroup’s, and B107 is so through every update', async () => {
    const volumes = [{ name: 'v', secret: { secretName: 'keys', defaultMode: 0o400 } }];
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    const securityContext = { fsGroup: GROUP, runAsUser: 1000 };
    await cluster.kubectl.create(
      pod('secret', 'cat /v/password; echo', { volumes, securityContext }, { volumeMounts }),
    );
    await running('secret');
    await daemon.until('it has read it', async () => (await logOf('secret')).join('') === 'hunter2');
    const path = await volume('secret', 'kubernetes.io~secret', 'v');
    expect((await readMounts()).find((mount) => mount.path === path)?.fsType).toBe('tmpfs');
    const file = join(path, 'password');
    const groups = new Set<number>();
    for (let n = 0; n < 10; n++) {
      const patch = JSON.stringify({ stringData: { password: `new-${n}` } });
      await cluster.kubectl.run('patch', 'secret', 'keys', '-p', patch);
      await daemon.until('it is new', async () => {
        groups.add((await stat(file)).gid);
        return (await readFile(file, 'utf8')) === `new-${n}`;
      });
    }
    expect([...groups]).toEqual([GROUP]);
    expect((await stat(file)).mode & 0o777).toBe(0o440);
  });

  test('B105 a container sees the change of a configMap, and nothing is left of its volumes after it', async () => {
    const volumes = [{ name: 'v', configMap: { name: 'settings' } }];
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    const script = 'until grep -q blue /v/color; do sleep 0.1; done; echo changed';
    await cluster.kubectl.create(pod('watches', script, { volumes }, { volumeMounts }));
    await running('watches');
    await cluster.kubectl.run('patch', 'configmap', 'settings', '-p', '{"data":{"color":"blue"}}');
    await daemon.until('it sees it', async () => (await logOf('watches')).includes('changed'));
    await cluster.kubectl.run('delete', 'pods', '--all', '--timeout=60s');
    await daemon.until('no pod is left', async () => (await readdir(join(daemon.rootDir, 'pods'))).length === 0);
    expect(mountsBelow(await readMounts(), join(daemon.rootDir, 'pods'))).toEqual([]);
  });
};

// Both, or nothing: kubectl makes the objects that containers of containerd read.
describeOnContainerd('volumes of the API’s objects', () => describeKubectl('on a real runtime', group));
