import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientCredentials } from '../../../services/kube/credentials.ts';
import type { ExecPlugin, KubeConfig } from '../../../services/kube/kube-config.types.ts';
import { makePki } from './server.ts';

const pki = makePki();
beforeAll(() => {
  pki.client('old', 'system:node:old');
  pki.client('new', 'system:node:new');
});
afterAll(() => pki.remove());

const config = (more: Partial<KubeConfig>): KubeConfig => ({
  origin: '/etc/kubeconfig',
  server: 'https://127.0.0.1:6443',
  insecureSkipTlsVerify: false,
  ...more,
});

/** Credentials and the clock that they look at. */
function rig(more: Partial<KubeConfig>) {
  const clock = { now: 1_000_000 };
  return { clock, credentials: clientCredentials(config(more), () => clock.now) };
}

describe('a token file', () => {
  const path = pki.file('token');
  const begin = () => {
    writeFileSync(path, 'first\n');
    return rig({ token: { file: path } });
  };

  test('is read again every minute', async () => {
    const { clock, credentials } = begin();
    expect(await credentials.authorization()).toBe('Bearer first');
    writeFileSync(path, 'second');
    clock.now += 59_000;
    expect(await credentials.authorization()).toBe('Bearer first');
    clock.now += 1_000;
    expect(await credentials.authorization()).toBe('Bearer second');
  });

  test('is read again at once when the token was refused', async () => {
    const { credentials } = begin();
    await credentials.authorization();
    writeFileSync(path, 'second');
    credentials.refused();
    expect(await credentials.authorization()).toBe('Bearer second');
  });

  test('that is gone or empty for a while leaves the last token', async () => {
    const { credentials } = begin();
    await credentials.authorization();
    writeFileSync(path, '\n');
    credentials.refused();
    expect(await credentials.authorization()).toBe('Bearer first');
    rmSync(path);
    credentials.refused();
    expect(await credentials.authorization()).toBe('Bearer first');
  });

  test('that was never there is an error with its path', async () => {
    rmSync(path, { force: true });
    const { credentials } = rig({ token: { file: path } });
    await expect(credentials.authorization()).rejects.toMatchObject({
      reason: 'InvalidKubeconfig',
      message: expect.stringContaining(`/etc/kubeconfig: tokenFile ${path} cannot be used`),
    });
    writeFileSync(path, 'late');
    expect(await credentials.authorization()).toBe('Bearer late');
  });
});

test('user and password go as basic authentication, nothing as no header', async () => {
  const { credentials } = rig({ basic: { username: 'u', password: 'p' } });
  expect(await credentials.authorization()).toBe(`Basic ${Buffer.from('u:p').toString('base64')}`);
  expect(await rig({}).credentials.authorization()).toBeUndefined();
});

describe('certificate files', () => {
  const [cert, key] = [pki.file('node.crt'), pki.file('node.key')];
  const begin = () => {
    copyFileSync(pki.file('old.crt'), cert);
    copyFileSync(pki.file('old.key'), key);
    return rig({ clientCertificate: { file: cert }, clientKey: { file: key } });
  };

  test('that are replaced are used from then on; those that are not changed give the same', async () => {
    const { clock, credentials } = begin();
    const first = await credentials.tls();
    clock.now += 60_000;
    expect(await credentials.tls()).toBe(first);
    copyFileSync(pki.file('new.crt'), cert);
    copyFileSync(pki.file('new.key'), key);
    clock.now += 60_000;
    expect((await credentials.tls()).version).toBe(first.version + 1);
  });

  test('of which one is not yet replaced leave the old pair', async () => {
    const { credentials } = begin();
    const first = await credentials.tls();
    copyFileSync(pki.file('new.crt'), cert);
    credentials.refused();
    expect(await credentials.tls()).toBe(first);
    copyFileSync(pki.file('new.key'), key);
    expect((await credentials.tls()).version).toBe(first.version + 1);
  });

  test('that do not belong to each other are an error where there are no others', async () => {
    const { credentials } = rig({
      clientCertificate: { data: pki.text('old.crt') },
      clientKey: { data: pki.text('new.key') },
    });
    await expect(credentials.tls()).rejects.toMatchObject({
      reason: 'InvalidKubeconfig',
      message: expect.stringMatching(/^\/etc\/kubeconfig: names certificates that do not work: .*mismatch/),
    });
  });
});

describe('a credential plugin', () => {
  const runs = pki.file('runs');
  /** A plugin in shell: what it writes into `runs` shows how often it ran and what it was told. */
  const plugin = (script: string, more: Partial<ExecPlugin> = {}): ExecPlugin => {
    rmSync(runs, { force: true });
    const command = pki.file('plugin');
    writeFileSync(command, `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> ${runs}\n${script}\n`);
    chmodSync(command, 0o755);
    const apiVersion = 'client.authentication.k8s.io/v1';
    return { apiVersion, command, args: ['topsecret'], env: {}, provideClusterInfo: false, ...more };
  };
  const answer = (status: object) =>
    `printf '%s' '${JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })}'`;
  const told = () => readFileSync(runs, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as object); // prettier-ignore

  test('runs once for all that wait, and again when what it gave has expired', async () => {
    const expirationTimestamp = new Date(2_000_000).toISOString();
    const { clock, credentials } = rig({ exec: plugin(answer({ token: 'a', expirationTimestamp })) });
    await Promise.all([credentials.authorization(), credentials.authorization(), credentials.tls()]);
    expect(told()).toHaveLength(1);
    clock.now = 1_999_999;
    await credentials.authorization();
    expect(told()).toHaveLength(1);
    clock.now = 2_000_000;
    await credentials.authorization();
    expect(told()).toHaveLength(2);
  });

  test('runs again when what it gave was refused, but not all the time', async () => {
    const { clock, credentials } = rig({ exec: plugin(answer({ token: 'a' })) });
    expect(await credentials.authorization()).toBe('Bearer a');
    clock.now += 9_999;
    credentials.refused();
    await credentials.authorization();
    expect(told()).toHaveLength(1);
    clock.now += 1;
    credentials.refused();
    await credentials.authorization();
    expect(told()).toHaveLength(2);
  });

  test('may give a certificate', async () => {
    const [clientCertificateData, clientKeyData] = [pki.text('old.crt'), pki.text('old.key')];
    const { credentials } = rig({ exec: plugin(answer({ clientCertificateData, clientKeyData })) });
    expect(await credentials.authorization()).toBeUndefined();
    expect((await credentials.tls()).context).toBeDefined();
  });

  test('is told about the cluster where it asks for it', async () => {
    const without = rig({ exec: plugin(answer({ token: 'a' })) });
    await without.credentials.authorization();
    const head = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' };
    expect(told()).toEqual([{ ...head, spec: { interactive: false } }]);
    const exec = plugin(answer({ token: 'a' }), { provideClusterInfo: true, clusterConfig: { audience: 'x' } });
    const having = rig({ exec, certificateAuthority: { data: pki.text('ca.crt') }, tlsServerName: 'api' });
    await having.credentials.authorization();
    const cluster = {
      server: 'https://127.0.0.1:6443',
      'tls-server-name': 'api',
      'certificate-authority-data': Buffer.from(pki.text('ca.crt')).toString('base64'),
      config: { audience: 'x' },
    };
    expect(told()).toEqual([{ ...head, spec: { interactive: false, cluster } }]);
  });

  test.each([
    ['fails', 'echo no region >&2; exit 3', /ended with 3: no region$/],
    ['gives no JSON', 'echo topsecret', /did not answer with JSON$/],
    [
      'gives another kind',
      'echo "{}"',
      /did not answer with an ExecCredential of client\.authentication\.k8s\.io\/v1$/,
    ],
    ['gives nothing', answer({}), /gave neither status\.token nor status\.clientCertificateData with clientKeyData$/],
  ])('that %s is an error without its arguments or its answer', async (_name, script, message) => {
    const { credentials } = rig({ exec: plugin(script) });
    const error = await credentials.authorization().catch((e: unknown) => e as Error);
    expect(error).toMatchObject({
      reason: 'ExecPluginFailed',
      transient: true,
      message: expect.stringMatching(message),
    });
    expect(JSON.stringify([error, (error as Error).message, (error as Error).stack])).not.toContain('topsecret');
  });

  test('that is not there says how to get it', async () => {
    const command = pki.file('absent');
    const { credentials } = rig({ exec: plugin('', { command, installHint: 'apt install it' }) });
    await expect(credentials.authorization()).rejects.toThrow(
      `credential plugin ${command} is not there. apt install it`,
    );
  });
});
