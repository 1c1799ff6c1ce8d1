import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { until } from '../../support/until.ts';
import { openRig, podOf } from './rig.ts';
import type { Rig } from './rig.ts';

const PODS = '/api/v1/namespaces/default/pods';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({ approveNodes: true });
});
afterEach(() => rig.server.faults.clear());
afterAll(() => rig.close());

const create = (name: string) => rig.call('admin', 'POST', PODS, podOf(name));
const isThere = async (name: string) => (await rig.call('admin', 'GET', `${PODS}/${name}`)).code === 200;

test('every second write is refused with the status that is asked for, as often as is asked', async () => {
  const status = { code: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 };
  rig.server.faults.add({ verbs: ['create'], resources: ['pods'], every: 2, times: 2, status });
  const codes = [];
  for (let i = 0; i < 6; i++) codes.push((await create(`nth-${i}`)).code);
  expect(codes).toEqual([201, 429, 201, 429, 201, 201]);
});

test('a connection is dropped before or after the work was done', async () => {
  const off = rig.server.faults.add({ verbs: ['create'], drop: 'before' });
  expect([(await create('before')).code, await isThere('before')]).toEqual([0, false]);
  off();
  rig.server.faults.add({ verbs: ['create'], drop: 'after' });
  expect([(await create('after')).code, await isThere('after')]).toEqual([0, true]);
});

test('watches are cut, and an outage refuses connections and keeps what was stored', async () => {
  await create('kept');
  const watching = await rig.watch(`${PODS}?watch=1`);
  rig.server.cutWatches();
  await watching.over;
  await rig.server.down();
  expect((await create('refused')).code).toBe(0);
  await rig.server.up();
  expect([await isThere('kept'), await isThere('refused')]).toEqual([true, false]);
});

test('the clock is skewed', async () => {
  rig.server.faults.skewMs = -3_600_000;
  const { body } = await create('skewed');
  expect(Date.now() - Date.parse(body.metadata?.creationTimestamp ?? '')).toBeGreaterThan(3_500_000);
});

test('faults are switched over HTTP by administrators', async () => {
  expect((await rig.call('node', 'POST', '/control/clear')).code).toBe(403);
  await rig.call('admin', 'POST', '/control/fault', {
    verbs: ['list'],
    status: { code: 503, reason: 'ServiceUnavailable' },
  });
  expect((await rig.call('admin', 'GET', PODS)).code).toBe(503);
  await rig.call('admin', 'POST', '/control/clear');
  expect((await rig.call('admin', 'GET', PODS)).code).toBe(200);
});

test('the journal is had over HTTP', async () => {
  await rig.call('admin', 'GET', PODS);
  const { body } = await rig.call('admin', 'POST', '/control/journal');
  expect((body as unknown as { journal: object[] }).journal).toContainEqual(
    expect.objectContaining({ verb: 'list', resource: 'pods', username: 'kubernetes-admin', code: 200 }),
  );
});

test("a kubelet's certificate request is approved and signed", async () => {
  const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const pem = execFileSync(
    'openssl',
    [
      'req',
      '-new',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      '/dev/null',
      '-subj',
      '/O=system:nodes/CN=system:node:n1',
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const spec = {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['client auth'],
    request: pem.toString('base64'),
  };
  await rig.call('node', 'POST', csrs, { metadata: { name: 'csr-1' }, spec });
  const certificate = await until('a certificate', async () => {
    const { body } = await rig.call('node', 'GET', `${csrs}/csr-1`);
    return (body['status'] as { certificate?: string }).certificate;
  });
  expect(Buffer.from(certificate, 'base64').toString()).toContain('BEGIN CERTIFICATE');
});

test('the journal tells what was asked by whom', async () => {
  await create('noted');
  expect(rig.server.journal.at(-1)).toMatchObject({
    verb: 'create',
    resource: 'pods',
    username: 'kubernetes-admin',
    code: 201,
  });
});
