import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadKubeconfig, parseKubeconfig } from '../../../services/kube/kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true }));

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const base64 = (text: string) => Buffer.from(text).toString('base64');

interface Parts {
  cluster?: object;
  user?: object;
  context?: object;
  more?: object;
}

/** A kubeconfig with a second cluster, user and context that must not be taken. */
function text({ cluster, user, context, more }: Parts = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'node',
    contexts: [
      { name: 'other', context: { cluster: 'other', user: 'other' } },
      { name: 'node', context: { cluster: 'c', user: 'u', ...context } },
    ],
    clusters: [
      { name: 'other', cluster: { server: 'https://other' } },
      { name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } },
    ],
    users: [
      { name: 'other', user: { token: 'other' } },
      { name: 'u', user: user ?? {} },
    ],
    ...more,
  });
}
const parse = (parts?: Parts) => parseKubeconfig('/etc/k/conf', text(parts));

describe('of a kubeconfig the current context is taken', () => {
  test('its server, CA and user', () => {
    const cluster = {
      'certificate-authority-data': base64(PEM),
      'tls-server-name': 'api',
      'proxy-url': 'http://proxy:3128',
    };
    const user = { 'client-certificate-data': base64(PEM), 'client-key-data': base64(PEM), token: 'secret' };
    expect(parse({ cluster, user })).toEqual({
      origin: '/etc/k/conf',
      server: 'https://10.0.0.1:6443',
      certificateAuthority: { data: PEM },
      tlsServerName: 'api',
      insecureSkipTlsVerify: false,
      proxyUrl: 'http://proxy:3128',
      clientCertificate: { data: PEM },
      clientKey: { data: PEM },
      token: { data: 'secret' },
    });
  });

  test('paths are taken from its own folder; certificates in it go before files, a token file before a token', () => {
    const cluster = { 'certificate-authority': 'pki/ca.crt' };
    const user = {
      'client-certificate': '/abs/node.pem',
      'client-certificate-data': base64(PEM),
      'client-key': 'node.pem',
      token: 'secret',
      tokenFile: '../token',
    };
    expect(parse({ cluster, user })).toMatchObject({
      certificateAuthority: { file: '/etc/k/pki/ca.crt' },
      clientCertificate: { data: PEM },
      clientKey: { file: '/etc/k/node.pem' },
      token: { file: '/etc/token' },
    });
  });

  test('a plugin: its command from that folder only where it is a path', () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './get-token',
      args: ['-n', 'a'],
      env: [{ name: 'REGION', value: 'x' }],
      interactiveMode: 'IfAvailable',
      provideClusterInfo: true,
    };
    const extensions = [
      { name: 'other', extension: 1 },
      { name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } },
    ];
    expect(parse({ cluster: { extensions }, user: { exec } }).exec).toEqual({
      clusterConfig: { audience: 'x' },
      apiVersion: 'client.authentication.k8s.io/v1',
      command: '/etc/k/get-token',
      args: ['-n', 'a'],
      env: { REGION: 'x' },
      provideClusterInfo: true,
    });
    expect(parse({ user: { exec: { ...exec, command: 'aws' } } }).exec?.command).toBe('aws');
  });

  test('in YAML as in JSON, read from its file', async () => {
    const path = join(folder, 'config.yaml');
    writeFileSync(
      path,
      `
apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: b, user: c, namespace: x}}]
clusters:
- name: b
  cluster: {server: "http://localhost:8080/below"}
users:
- name: c
  user: {username: u, password: p}
`,
    );
    expect(await loadKubeconfig(path)).toMatchObject({
      server: 'http://localhost:8080/below',
      basic: { username: 'u', password: 'p' },
    });
  });
});

describe('a kubeconfig that cannot be used is refused by file, field and what would be accepted, never by value', () => {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'x' };
  test.each<[string, Parts, string]>([
    ['no context', { more: { 'current-context': '' } }, 'current-context is not set: accepted is the name of one of contexts'],
    ['an unknown context', { more: { 'current-context': 'x' } }, 'contexts has no "x": there is "other", "node"'],
    ['an unknown cluster', { context: { cluster: 'x' } }, 'clusters has no "x": there is "other", "c"'],
    ['no user', { more: { users: null } }, 'users has no "u": there are none'],
    ['a list that is none', { more: { users: {} } }, 'users is not a list'],
    ['no server', { cluster: { server: '' } }, 'clusters[1].cluster.server is not set'],
    ['a server that is no URL', { cluster: { server: 'ftp://x' } }, 'clusters[1].cluster.server is not a URL that can be used: accepted are https: and http://host:port'],
    ['a proxy of another kind', { cluster: { 'proxy-url': 'socks5://x' } }, 'clusters[1].cluster.proxy-url is not a URL that can be used: accepted are http://host:port'],
    ['data that is no PEM', { user: { 'client-key-data': base64('topsecret') } }, 'users[1].user.client-key-data is not the base64 of PEM'],
    ['half a pair', { user: { 'client-key': 'a' } }, 'users[1].user needs both client-certificate and client-key, or none of them'],
    ['insecure with a CA', { cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority': 'a' } }, 'clusters[1].cluster.insecure-skip-tls-verify cannot be true where a certificate authority is given'],
    ['not a boolean', { cluster: { 'insecure-skip-tls-verify': 'yes' } }, 'clusters[1].cluster.insecure-skip-tls-verify is not a boolean: accepted are true and false'],
    ['a token that is no string', { user: { token: 7 } }, 'users[1].user.token is not a string'],
    ['an auth provider', { user: { 'auth-provider': {} } }, 'users[1].user.auth-provider is not supported'],
    ['impersonation', { user: { as: 'x' } }, 'users[1].user.as is not supported'],
    ['a plugin of another version', { user: { exec: { ...exec, apiVersion: 'v9' } } }, 'users[1].user.exec.apiVersion is not supported: accepted are client.authentication.k8s.io/v1, client.authentication.k8s.io/v1beta1'],
    ['a plugin that wants a terminal', { user: { exec: { ...exec, interactiveMode: 'Always' } } }, 'users[1].user.exec.interactiveMode cannot be Always: there is no terminal'],
    ['a plugin without a command', { user: { exec: { ...exec, command: undefined } } }, 'users[1].user.exec.command is not set'],
    ['a plugin variable without a name', { user: { exec: { ...exec, env: [{ value: 'topsecret' }] } } }, 'users[1].user.exec.env[0].name is not set'],
  ])('%s', (_name, parts, message) => {
    expect(() => parse(parts)).toThrow(expect.objectContaining({ reason: 'InvalidKubeconfig', message: `/etc/k/conf: ${message}` }));
  }); // prettier-ignore

  test('a text that is no kubeconfig is not quoted', () => {
    const broken = 'users:\n- name: a\n  user: {token: topsecret';
    expect(() => parseKubeconfig('/etc/k/conf', broken)).toThrow(
      /^\/etc\/k\/conf: is neither YAML nor JSON \(line \d\)$/,
    );
    expect(() => parseKubeconfig('/etc/k/conf', '[1]')).toThrow('/etc/k/conf: is not an object');
    expect(() => parseKubeconfig('/etc/k/conf', '')).toThrow('current-context is not set');
  });

  test('a file that is not there', async () => {
    const path = join(folder, 'absent');
    await expect(loadKubeconfig(path)).rejects.toMatchObject({ message: `${path}: cannot be read: ENOENT` });
  });
});

describe('an empty file', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const empty = join(folder, 'empty');
  beforeAll(() => {
    writeFileSync(empty, '\n');
    writeFileSync(join(folder, 'token'), 't');
  });

  test('means the cluster in which the agent runs as a pod, by its service account', async () => {
    expect(await loadKubeconfig(empty, env, folder)).toMatchObject({
      server: 'https://[fd00::1]:443',
      certificateAuthority: { file: join(folder, 'ca.crt') },
      token: { file: join(folder, 'token') },
    });
  });

  test.each([
    ['without the address of an API server', { ...env, KUBERNETES_SERVICE_HOST: '' }, folder],
    ['without a service account', env, join(folder, 'absent')],
  ])('%s is no kubeconfig', async (_what, variables, serviceAccount) => {
    await expect(loadKubeconfig(empty, variables, serviceAccount)).rejects.toMatchObject({
      reason: 'InvalidKubeconfig',
      message: `${empty}: current-context is not set: accepted is the name of one of contexts`,
    });
  });
});
