import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import type { Container, Pod, PodSpec } from '../../machines/kubernetes.types.ts';
import { kubeconfig } from './apiserver/kubeconfig.ts';
import { Kubectl } from './apiserver/kubectl.ts';
import { ApiServer } from './apiserver/server.ts';
import { FOREVER, shell } from './pods.ts';
import { tearDown } from './tear-down.ts';
import { until } from './until.ts';

/** Kubeconfig of an administrator of a real control plane, where the tests are to run against one. */
const real = process.env['STATELET_TEST_KUBECONFIG'];

/** Longest wait for a controller manager to sign a certificate or to make a service account, ms: there may be none. */
const CONTROLLER_MS = 15_000;

/** Of objects of the whole control plane that a file of tests makes. */
const LABEL = 'statelet.test/node';

/** A control plane and a node's place in it, for one file of tests. */
export interface Cluster {
  /** An administrator, in the namespace of this file. */
  kubectl: Kubectl;
  namespace: string;
  nodeName: string;
  /** Kubeconfig of the agent. */
  kubeconfig: string;
  /** The API server itself, for faults; throws on a real control plane, where they cannot be made. */
  double(): ApiServer;
  /** Takes everything of these tests out of the control plane. The agent no longer runs. */
  close(): Promise<void>;
}

/** A test whose faults only the double makes: on a real control plane it is left out, with the reason. */
export function testOnDouble(name: string, run: () => Promise<void>, timeout?: number): void {
  if (real === undefined) test(name, run, timeout);
  else
    test.skip(`${name} (left out on a real control plane: only the API server of the tests makes these faults)`, run);
}

/** The double, or the control plane that STATELET_TEST_KUBECONFIG names. */
export async function testCluster(): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-cluster-'));
  const name = `statelet-${randomBytes(4).toString('hex')}`;
  const server =
    real === undefined ? await ApiServer.start({ directory: join(directory, 'api'), schedule: true }) : undefined;
  const admin = server ? await server.admin() : join(directory, 'admin.kubeconfig');
  // A copy, for what kubectl keeps lies beside it.
  if (real !== undefined) await writeFile(admin, await readFile(real), { mode: 0o600 });
  const kubectl = new Kubectl(admin, name);
  const close = () =>
    tearDown(
      () => kubectl.run('delete', 'pods', '--all', '--force', '--grace-period=0', '--timeout=20s'),
      () => kubectl.run('delete', 'namespace', name, '--wait=false'),
      () => kubectl.run('delete', 'node', name, '--ignore-not-found'),
      () => kubectl.run('delete', 'lease', '-n', 'kube-node-lease', name, '--ignore-not-found'),
      () => (server ? server.close() : kubectl.run('delete', 'csr,clusterrolebinding', '-l', `${LABEL}=${name}`)),
      () => rm(directory, { recursive: true, force: true }),
    );
  try {
    await kubectl.run('create', 'namespace', name);
    await defaultAccount(kubectl);
    return {
      kubectl,
      namespace: name,
      nodeName: name,
      kubeconfig: server ? await server.node(name) : await credentials(kubectl, directory, name),
      double() {
        if (!server) throw new Error('a real control plane makes no faults: testOnDouble leaves such tests out');
        return server;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Pods need their namespace's service account, which a controller makes where there is one. */
async function defaultAccount(kubectl: Kubectl): Promise<void> {
  const isThere = async () => (await kubectl.try(['get', 'serviceaccount', 'default'])).code === 0;
  const made = await until('the default service account', isThere, { patienceMs: CONTROLLER_MS }).catch(() => false);
  if (!made) await kubectl.run('create', 'serviceaccount', 'default');
}

/**
 * What the agent shows of itself to a real control plane: a kubelet's client certificate, requested and approved as the
 * administrator. Where nobody signs it, which is the controller manager's work, the token of a service account that may
 * do everything: the node authorizer then judges nothing.
 */
async function credentials(kubectl: Kubectl, directory: string, node: string): Promise<string> {
  const key = join(directory, 'node.key');
  const subject = `/O=system:nodes/CN=system:node:${node}`;
  const { stdout: request } = await promisify(execFile)('openssl', [
    ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-keyout', key, '-subj', subject],
  ]);
  const labels = { [LABEL]: node };
  await kubectl.create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: node, labels },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    },
  });
  await kubectl.run('certificate', 'approve', node);
  const signed = () => kubectl.run('get', 'csr', node, '-o', 'jsonpath={.status.certificate}');
  const certificate = await until('a certificate', async () => (await signed()) || undefined, {
    patienceMs: CONTROLLER_MS,
  }).catch(() => undefined);
  const { server, authority } = await clusterOf(kubectl);
  const path = join(directory, `${node}.kubeconfig`);
  if (certificate) {
    const pair = { certificate: Buffer.from(certificate, 'base64').toString(), key: await readFile(key, 'utf8') };
    await writeFile(path, kubeconfig(server, authority, node, pair), { mode: 0o600 });
    return path;
  }
  await kubectl.run('create', 'serviceaccount', 'agent');
  const account = { kind: 'ServiceAccount', name: 'agent', namespace: node };
  await kubectl.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: node, labels },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [account],
  });
  const token = (await kubectl.run('create', 'token', 'agent', '--duration=4h')).trim();
  const whole = parse(kubeconfig(server, authority, node, { certificate: '', key: '' })) as { users: object[] };
  await writeFile(path, stringify({ ...whole, users: [{ name: node, user: { token } }] }), { mode: 0o600 });
  return path;
}

/** Address and authority of the control plane, as kubectl understands its kubeconfig. */
async function clusterOf(kubectl: Kubectl): Promise<{ server: string; authority: string }> {
  const text = await kubectl.run('config', 'view', '--raw', '--minify', '--flatten', '-o', 'json');
  const { clusters } = JSON.parse(text) as {
    clusters: { cluster: { server: string; 'certificate-authority-data'?: string } }[];
  };
  const [first] = clusters;
  if (!first) throw new Error('STATELET_TEST_KUBECONFIG: its current context names no cluster');
  const { server, 'certificate-authority-data': data = '' } = first.cluster;
  return { server, authority: Buffer.from(data, 'base64').toString() };
}

/** Of a pod whose container notes its starts: the name of the file. */
export const STARTS_ANNOTATION = 'statelet.test/starts';

/** File in which every start of every container that notes them is a line: UID on the node and key of its pod. */
export const BEGUN = '.begun';

/**
 * A pod that is bound to the node of the cluster, with a volume that lies in memory. Each start of its container writes a line
 * into the file `key` of the folder `starts`, and the command line of what runs has `: <node>/<key>;`.
 *
 * @param key the pod's name, unless several pods have that
 */
export function boundPod(
  { nodeName }: Cluster,
  starts: string,
  { name, key = name, script = FOREVER }: { name: string; key?: string; script?: string },
  spec: Partial<PodSpec> = {},
  over: Partial<Container> = {},
): Pod & { metadata: { name: string }; spec: PodSpec } {
  const noted = `echo $$ >> /starts/${key}; echo "$POD_UID ${key}" >> /starts/${BEGUN}; : ${nodeName}/${key}; ${script}`;
  const uid = { fieldPath: 'metadata.uid' };
  const volumeMounts = [
    { name: 'starts', mountPath: '/starts' },
    { name: 'about', mountPath: '/about' },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations: { [STARTS_ANNOTATION]: key } },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 5,
      containers: [shell(noted, { env: [{ name: 'POD_UID', valueFrom: { fieldRef: uid } }], volumeMounts, ...over })],
      volumes: [
        { name: 'starts', hostPath: { path: starts, type: 'DirectoryOrCreate' } },
        { name: 'about', downwardAPI: { items: [{ path: 'uid', fieldRef: uid }] } },
      ],
      ...spec,
    },
  };
}
