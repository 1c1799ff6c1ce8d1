import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import type { ConfigObject, ObjectReference } from '../../../machines/pod/objects.types.ts';
import { createFactStore } from '../../../services/host/facts.ts';
import { connectKube, type Kube } from '../../../services/kube/client.ts';
import { keptByPod } from '../../../services/kube/kept-by-pod.ts';
import { loadKubeconfig } from '../../../services/kube/kubeconfig.ts';
import { configObjects } from '../../../services/kube/objects/index.ts';
import { keptObjects } from '../../../services/kube/objects/kept-objects.ts';
import type { ChangeDetection } from '../../../services/kube/objects/objects.types.ts';
import { serviceAccountTokens, type KeptToken } from '../../../services/kube/tokens.ts';
import { ApiServer } from '../../support/apiserver/server.ts';
import { pod } from '../../support/fixtures.ts';
import { until } from '../../support/until.ts';

const NODE = 'worker-1';
const AWAY = { username: `system:node:${NODE}`, drop: 'before' } as const;
const OPTIONS = { qps: 200, burst: 400, events: { qps: 50, burst: 100 }, userAgent: 'statelet/test' };
const directory = mkdtempSync(join(tmpdir(), 'objects-in-api-'));
const signal = new AbortController().signal;
const warnings: string[] = [];
const logger = {
  warn: (fields: object, message: string) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
};

let server: ApiServer;
let admin: Kube;
let kube: Kube;
let user: DesiredPod;

const path = (plural: string, name = '') => `/api/v1/namespaces/default/${plural}${name && `/${name}`}`;
const make = (plural: string, kind: string, name: string, data: Record<string, string>, more: object = {}) =>
  admin.request({
    method: 'POST',
    path: path(plural),
    body: { apiVersion: 'v1', kind, metadata: { name }, data, ...more },
  });
const put = (name: string, data: Record<string, string>) =>
  admin.request({
    method: 'PATCH',
    path: path('configmaps', name),
    body: { data },
    contentType: 'application/merge-patch+json',
  });
const reference = (name: string): ObjectReference => ({ kind: 'ConfigMap', name });

beforeAll(async () => {
  server = await ApiServer.start({ directory });
  admin = connectKube(await loadKubeconfig(await server.admin()), OPTIONS);
  kube = connectKube(await loadKubeconfig(await server.node(NODE)), OPTIONS);
  const names = ['seen', 'late', 'fixed', 'twice'];
  const envFrom = [...names.map((name) => ({ configMapRef: { name } })), { secretRef: { name: 'hidden' } }];
  const spec = { nodeName: NODE, containers: [{ name: 'app', image: 'busybox:1', envFrom }] };
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'user' }, spec };
  const { metadata } = await admin.request<DesiredPod>({ method: 'POST', path: path('pods'), body });
  user = pod({ uid: metadata.uid, name: 'user', spec: { ...spec, serviceAccountName: 'default' } });
  await make('configmaps', 'ConfigMap', 'seen', { a: '1' });
  await make('configmaps', 'ConfigMap', 'fixed', { a: '1' }, { immutable: true });
  await make('secrets', 'Secret', 'hidden', { k: Buffer.from('hunter2-hidden').toString('base64') });
}, 60_000);
afterAll(async () => {
  admin.close();
  kube.close();
  await server.close();
  rmSync(directory, { recursive: true });
});

const ends: (() => void)[] = [];
afterEach(() => {
  server.faults.clear();
  for (const end of ends.splice(0)) end();
});

/** What an agent has of objects; another one on the same root directory is started later. */
function agent(strategy: ChangeDetection = 'Watch', rootDir = mkdtempSync(join(directory, 'root-')), api = kube) {
  const place = (folder: 'config-maps' | 'secrets/objects') =>
    keptByPod<ConfigObject>(createFactStore({ rootDir }, logger, folder));
  const kept = keptObjects({ ConfigMap: place('config-maps'), Secret: place('secrets/objects') });
  const objects = configObjects({ kube: api, strategy, kept, random: () => 0, logger });
  const changes: string[] = [];
  const follow = () => {
    const end = objects.follow(user, ({ name }) => void changes.push(name));
    ends.push(end);
    return end;
  };
  const read = async (name: string) =>
    (await objects.read('default', [reference(name)], signal))(reference(name))?.data?.['a'];
  return { objects, rootDir, changes, follow, read };
}
const keptFiles = (rootDir: string) => readdir(join(rootDir, 'statelet/config-maps')).catch(() => []);

describe('objects that pods of this node use', () => {
  test('are there as the API has them, and one that is not there is not', async () => {
    const { follow, read } = agent();
    follow();
    expect(await read('seen')).toBe('1');
    expect(await read('late')).toBeUndefined();
  });

  test('B105 a change, and an object that comes, are told at once', async () => {
    const { follow, read, changes } = agent();
    follow();
    await read('seen');
    await put('seen', { a: '2' });
    await until('the change is told', () => changes.includes('seen'));
    expect(await read('seen')).toBe('2');
    await make('configmaps', 'ConfigMap', 'late', { a: 'late' });
    await until('it is told', () => changes.includes('late'));
    expect(await read('late')).toBe('late');
  });

  test('what changed while watches were cut is found', async () => {
    const { follow, read, changes } = agent();
    follow();
    await read('seen');
    const back = server.faults.add(AWAY);
    server.cutWatches();
    await put('seen', { a: '3' });
    back();
    await until('the change is told', () => changes.includes('seen'));
    expect(await read('seen')).toBe('3');
  });

  test('one watch serves all pods that use an object, and an immutable one has none', async () => {
    const watched: string[] = [];
    const counting: Kube = {
      ...kube,
      watch: (options) => {
        watched.push(`${options.op} ${String(options.query['fieldSelector'])}`);
        return kube.watch(options);
      },
    };
    const { follow, read } = agent('Watch', undefined, counting);
    follow();
    follow();
    for (const name of ['seen', 'late', 'fixed', 'twice']) await read(name);
    await until('watches are there', () => watched.length >= 4);
    expect(watched.sort()).toEqual([
      'watch ConfigMap metadata.name=late',
      'watch ConfigMap metadata.name=seen',
      'watch ConfigMap metadata.name=twice',
      'watch Secret metadata.name=hidden',
    ]);
  });

  test.each<ChangeDetection>(['Watch', 'Cache', 'Get'])(
    'B075 %s: they are had as last seen while the API server is away, by the next agent too',
    async (strategy) => {
      const { follow, read, rootDir } = agent(strategy);
      follow();
      const last = await read('seen');
      await until('it is kept', async () => (await keptFiles(rootDir)).length > 0);
      server.faults.add(AWAY);
      server.cutWatches();
      expect(await read('seen')).toBe(last);
      const next = agent(strategy, rootDir);
      next.follow();
      expect(await next.read('seen')).toBe(last);
      await expect(next.read('twice')).rejects.toMatchObject({ transient: true });
    },
    30_000,
  );

  test('what is kept goes with the last pod that it is kept for', async () => {
    const { follow, read, objects, rootDir } = agent();
    const end = follow();
    await read('seen');
    await until('it is kept', async () => (await keptFiles(rootDir)).length > 0);
    await objects.sweep(new Set());
    expect(await keptFiles(rootDir)).not.toEqual([]);
    end();
    await objects.sweep(new Set([user.metadata.uid]));
    expect(await keptFiles(rootDir)).not.toEqual([]);
    await objects.sweep(new Set());
    expect(await keptFiles(rootDir)).toEqual([]);
  });

  test('a kept Secret that is damaged is told of without a word of it', async () => {
    const { follow, objects, rootDir } = agent();
    follow();
    const hidden = { kind: 'Secret', name: 'hidden' } as const;
    await objects.read('default', [hidden], signal);
    const folder = join(rootDir, 'statelet/secrets/objects');
    const [file = ''] = await until('it is kept', async () => {
      const files = await readdir(folder).catch(() => []);
      return files.length > 0 && files;
    });
    const store = createFactStore({ rootDir }, logger, 'secrets/objects');
    const text = await readFile(join(folder, file), 'utf8');
    expect(text).toContain(Buffer.from('hunter2-hidden').toString('base64'));
    const { writeFile } = await import('node:fs/promises');
    await writeFile(join(folder, file), `hunter2-hidden ${text}`);
    expect(await store.read(file.replace('.json', ''))).toBeUndefined();
    expect(warnings.at(-1)).toContain('was set aside');
    expect(warnings.join()).not.toContain('hunter2');
  });
});

describe('tokens', () => {
  const env = { time: 0, now: () => 1_800_000_000_000 + env.time, elapsed: () => env.time, random: () => 0 };
  const place = (rootDir: string) => keptByPod<KeptToken>(createFactStore({ rootDir }, logger, 'secrets/tokens'));
  const begin = (rootDir = mkdtempSync(join(directory, 'root-'))) => ({
    rootDir,
    tokens: serviceAccountTokens({ kube, kept: place(rootDir), env, logger }),
  });
  const projection = { expirationSeconds: 600 };

  test('are bound to the pod, the same until they are due at 80 % of their life, and new then', async () => {
    const { tokens } = begin();
    const first = await tokens.get(user, projection, signal);
    expect(first.refreshAfterMs).toBe(480_000);
    const claims = JSON.parse(Buffer.from(first.token.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(claims).toMatchObject({ 'kubernetes.io': { pod: { uid: user.metadata.uid } } });
    env.time += 479_000;
    expect((await tokens.get(user, projection, signal)).token).toBe(first.token);
    env.time += 1_000;
    expect((await tokens.get(user, projection, signal)).token).not.toBe(first.token);
  });

  test('B166 one that cannot be renewed is used to its end, and asked for again within a minute', async () => {
    const { tokens } = begin();
    const { token } = await tokens.get(user, projection, signal);
    const status = { code: 500, reason: 'InternalError' };
    const back = server.faults.add({ resources: ['serviceaccounts/token'], status });
    env.time += 500_000;
    const again = await tokens.get(user, projection, signal);
    expect(again.token).toBe(token);
    expect(again.refreshAfterMs).toBeLessThanOrEqual(60_000);
    back();
    env.time += again.refreshAfterMs;
    expect((await tokens.get(user, projection, signal)).token).not.toBe(token);
    server.faults.add({ resources: ['serviceaccounts/token'], status });
    env.time += 600_000;
    await expect(tokens.get(user, projection, signal)).rejects.toMatchObject({
      message: expect.stringMatching(/^failed to fetch token: /),
    });
    expect(warnings.join()).not.toContain(token);
  });

  test('B075 the next agent has them, even while the API server is away', async () => {
    const { tokens, rootDir } = begin();
    const { token } = await tokens.get(user, projection, signal);
    server.faults.add(AWAY);
    env.time += 60_000;
    expect(await begin(rootDir).tokens.get(user, projection, signal)).toEqual({ token, refreshAfterMs: 420_000 });
  });

  test('B167 one that was kept under a clock that ran ahead is renewed at once', async () => {
    const { tokens, rootDir } = begin();
    env.time += 2 * 86_400_000;
    const { token } = await tokens.get(user, projection, signal);
    env.time -= 2 * 86_400_000;
    const next = await begin(rootDir).tokens.get(user, projection, signal);
    expect(next.token).not.toBe(token);
    expect(next.refreshAfterMs).toBe(480_000);
  });
});
