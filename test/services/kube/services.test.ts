import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import type { NodeService } from '../../../machines/pod/objects.types.ts';
import { createFactStore } from '../../../services/host/facts.ts';
import { connectKube, type Kube } from '../../../services/kube/client.ts';
import { environmentReader } from '../../../services/kube/environment.ts';
import { keptByPod } from '../../../services/kube/kept-by-pod.ts';
import { loadKubeconfig } from '../../../services/kube/kubeconfig.ts';
import { nodeServices } from '../../../services/kube/objects/watched-services.ts';
import { ApiServer } from '../../support/apiserver/server.ts';
import { pod } from '../../support/fixtures.ts';
import { until } from '../../support/until.ts';

const NODE = 'worker-1';
const AWAY = { username: `system:node:${NODE}`, drop: 'before' } as const;
const OPTIONS = { qps: 200, burst: 400, events: { qps: 50, burst: 100 }, userAgent: 'statelet/test' };
const directory = mkdtempSync(join(tmpdir(), 'services-in-api-'));
const signal = new AbortController().signal;
const NEVER_READ = 'services have not yet been read at least once, cannot construct envvars';

let server: ApiServer;
let admin: Kube;
let kube: Kube;
let warnings: string[] = [];

const path = (namespace: string, name = '') => `/api/v1/namespaces/${namespace}/services${name && `/${name}`}`;
const make = (namespace: string, name: string, clusterIP = '10.96.0.10', port = 80) =>
  admin.request({
    method: 'POST',
    path: path(namespace),
    body: { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { clusterIP, ports: [{ port }] } },
  });
const patch = (name: string, port: number) =>
  admin.request({
    method: 'PATCH',
    path: path('default', name),
    body: { spec: { ports: [{ port }] } },
    contentType: 'application/merge-patch+json',
  });
const remove = (name: string) => admin.request({ method: 'DELETE', path: path('default', name) });

beforeAll(async () => {
  server = await ApiServer.start({ directory });
  admin = connectKube(await loadKubeconfig(await server.admin()), OPTIONS);
  kube = connectKube(await loadKubeconfig(await server.node(NODE)), OPTIONS);
  await make('default', 'web');
  await make('default', 'headless', 'None');
  await make('kube-system', 'far');
}, 60_000);
const ends: (() => void)[] = [];
afterEach(() => {
  server.faults.clear();
  for (const end of ends.splice(0)) end();
});
afterAll(async () => {
  admin.close();
  kube.close();
  await server.close();
  rmSync(directory, { recursive: true });
});

/** What an agent has of services; another one on the same root directory is started later. */
function agent(rootDir = mkdtempSync(join(directory, 'root-')), api = kube) {
  warnings = [];
  const logger = {
    warn: (fields: object, message: string) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  const kept = keptByPod<NodeService[]>(createFactStore({ rootDir }, logger, 'services'));
  const services = nodeServices({ kube: api, kept, random: () => 0, logger });
  ends.push(services.close);
  const environment = environmentReader({ allocatable: {}, objects: undefined, services });
  /** What a container that starts now is told. */
  const told = async (of: DesiredPod = pod({ uid: 'u1' })) => {
    const [container] = of.spec.containers;
    if (!container) throw new Error('a pod without containers');
    const variables = await environment(of, container, { ips: [], hostIPs: [] }, signal);
    return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
  };
  return { services, told, rootDir };
}
const keptFiles = (rootDir: string) => readdir(join(rootDir, 'statelet/services')).catch(() => []);
const keptText = async (rootDir: string) => {
  const files = await keptFiles(rootDir);
  return (await Promise.all(files.map((file) => readFile(join(rootDir, 'statelet/services', file), 'utf8')))).join();
};

describe('services of the cluster', () => {
  test('a container is told of those of its namespace, as they are when it starts', async () => {
    const { told } = agent();
    expect(await told()).toMatchObject({ WEB_SERVICE_HOST: '10.96.0.10', WEB_PORT: 'tcp://10.96.0.10:80' });
    expect(Object.keys(await told()).some((name) => /^(FAR|HEADLESS)_/.test(name))).toBe(false);
    const unlinked = pod({ spec: { enableServiceLinks: false } });
    expect(Object.keys(await told(unlinked)).some((name) => name.startsWith('WEB_'))).toBe(false);
    await patch('web', 8080);
    await make('default', 'late');
    await until('they are new', async () => {
      const { WEB_SERVICE_PORT, LATE_SERVICE_HOST } = await told();
      return WEB_SERVICE_PORT === '8080' && LATE_SERVICE_HOST !== undefined;
    });
    await remove('late');
    await until('it is gone', async () => (await told())['LATE_SERVICE_HOST'] === undefined);
  });

  test('one watch serves the whole node, and what changed while it was cut is found', async () => {
    const watched: string[] = [];
    const counting: Kube = {
      ...kube,
      watch: (options) => {
        watched.push(options.path);
        return kube.watch(options);
      },
    };
    const { told, services } = agent(undefined, counting);
    for (const uid of ['u1', 'u2', 'u3']) ends.push(services.follow(pod({ uid })));
    await told();
    await until('it is there', () => watched.length > 0);
    expect(watched).toEqual(['/api/v1/services']);
    const back = server.faults.add(AWAY);
    server.cutWatches();
    await patch('web', 8081);
    back();
    await until('it is new', async () => (await told())['WEB_SERVICE_PORT'] === '8081');
  });

  test('they are read page by page', async () => {
    const pages: unknown[] = [];
    const small: Kube = {
      ...kube,
      request: (options) => {
        pages.push(options.query?.['continue']);
        return kube.request({ ...options, query: { ...options.query, limit: 1 } });
      },
    };
    const { told } = agent(undefined, small);
    expect(await told()).toHaveProperty('WEB_SERVICE_HOST');
    expect(pages.length).toBeGreaterThan(2);
    expect(new Set(pages).size).toBe(pages.length);
  });

  test('a container waits for the first listing, a static pod does not', async () => {
    server.faults.add(AWAY);
    const { told } = agent();
    await expect(told()).rejects.toMatchObject({ message: NEVER_READ, transient: true });
    const own = pod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
    expect(await told(own)).toEqual({});
    server.faults.clear();
    await until('they are read', async () => Object.keys(await told().catch(() => ({}))).length > 0);
    expect(await told(own)).toHaveProperty('WEB_SERVICE_HOST');
  }, 30_000);

  test('a refusal is not taken for an empty list', async () => {
    server.faults.add({ resources: ['services'], status: { code: 403, reason: 'Forbidden' } });
    const { told } = agent();
    await expect(told()).rejects.toMatchObject({ message: NEVER_READ });
    expect(warnings).toEqual([expect.stringMatching(/Services are not known .*problem/)]);
  });

  test('B075 they are had as last seen while the API server is away, by the next agent too', async () => {
    const { told, services, rootDir } = agent();
    ends.push(services.follow(pod({ uid: 'u1' })));
    await told();
    await make('default', 'kept', '10.96.0.77');
    await until('it is kept', async () => (await keptText(rootDir)).includes('10.96.0.77'));
    const before = await told();
    expect(await keptText(rootDir)).not.toMatch(/"far"|headless|managedFields/);
    server.faults.add(AWAY);
    server.cutWatches();
    expect(await told()).toEqual(before);
    const next = agent(rootDir);
    expect(await next.told()).toEqual(before);
    expect(await next.told(pod({ uid: 'u9' }))).toEqual(before);
    expect(warnings).toEqual([expect.stringContaining('the API server is away: Services are used as last seen')]);
    await remove('kept');
  }, 30_000);

  test('what is kept goes with the last pod of its namespace', async () => {
    const { services, rootDir, told } = agent();
    await told();
    const end = services.follow(pod({ uid: 'u1' }));
    await until('they are kept', async () => (await keptFiles(rootDir)).length === 1);
    await services.sweep(new Set());
    expect(await keptFiles(rootDir)).toHaveLength(1);
    end();
    await services.sweep(new Set(['u1']));
    expect(await keptFiles(rootDir)).toHaveLength(1);
    await services.sweep(new Set());
    expect(await keptFiles(rootDir)).toEqual([]);
  });
});
