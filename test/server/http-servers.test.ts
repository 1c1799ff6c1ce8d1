import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Pod, PodStatus } from '../../machines/kubernetes.types.ts';
import { serveHealthz, serveReadOnly } from '../../services/server/http-servers.ts';
import { podListBody } from '../../services/server/pod-list.ts';
import type { AgentView, PodView, RunningServer } from '../../services/server/server.types.ts';

const pod = (name: string, extra: Partial<Pod> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [{ name: 'c', image: 'busybox' }] },
  ...extra,
});
const running: PodStatus = { phase: 'Running' };

const view = (over: Partial<AgentView> = {}): AgentView => ({
  healthy: () => ({ ok: true }),
  pods: () => [],
  live: { actors: () => [], history: () => [] },
  explain: () => {
    throw new Error('nobody asks for that here');
  },
  ...over,
});

const open: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(
  serve: typeof serveHealthz,
  agent: AgentView,
  options: { port?: number; restartMs?: number } = {},
): Promise<{ url: string; log: string[] }> {
  const log: string[] = [];
  const server = serve({
    host: '127.0.0.1',
    port: 0,
    view: agent,
    log: (level, message) => log.push(`${level}: ${message}`),
    ...options,
  });
  open.push(server);
  const address = await server.listening;
  return { url: `http://127.0.0.1:${address?.port}`, log };
}

describe('/healthz', () => {
  test.each([serveHealthz, serveReadOnly])('answers ok as plain text', async (serve) => {
    const { url } = await start(serve, view());
    const response = await fetch(`${url}/healthz`);
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect((await fetch(`${url}/healthz/ping`, { method: 'POST' })).status).toBe(200);
  });

  test('answers 500 with the reason while the agent is unhealthy', async () => {
    const { url } = await start(serveHealthz, view({ healthy: () => ({ ok: false, reason: 'runtime is down' }) }));
    const response = await fetch(`${url}/healthz`);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe('[+]ping ok\n[-]syncloop failed: runtime is down\nhealthz check failed\n');
    expect((await fetch(`${url}/healthz/ping`)).status).toBe(200);
    expect((await fetch(`${url}/healthz/syncloop`)).status).toBe(500);
    expect((await fetch(`${url}/healthz?exclude=syncloop`)).status).toBe(200);
  });

  test('shows each check on ?verbose', async () => {
    const { url } = await start(serveHealthz, view());
    expect(await (await fetch(`${url}/healthz?verbose`)).text()).toBe(
      '[+]ping ok\n[+]syncloop ok\nhealthz check passed\n',
    );
  });

  test.each(['/', '/healthy', '/healthz/other', '/healthz/ping/more', '/pods'])('%s is not there', async (path) => {
    const { url } = await start(serveHealthz, view());
    expect((await fetch(url + path)).status).toBe(404);
  });
});

describe('/pods', () => {
  test('is a v1 PodList without list metadata, each pod with its status', async () => {
    const { url } = await start(
      serveReadOnly,
      view({ pods: () => [{ pod: pod('a'), status: running }, { pod: pod('b', { status: { phase: 'Pending' } }) }] }),
    );
    const response = await fetch(`${url}/pods`);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: {},
      items: [
        { metadata: pod('a').metadata, spec: pod('a').spec, status: running },
        { metadata: pod('b').metadata, spec: pod('b').spec, status: { phase: 'Pending' } },
      ],
    });
  });

  test('may only be read', async () => {
    const { url } = await start(serveReadOnly, view());
    expect((await fetch(`${url}/pods`, { method: 'DELETE' })).status).toBe(405);
    expect(await (await fetch(`${url}/pods`)).json()).toMatchObject({ items: [] });
  });

  test('is serialised again only when a pod or its status is another object', () => {
    let pods: PodView[] = [{ pod: pod('a'), status: running }, { pod: pod('b') }];
    const body = podListBody({ pods: () => pods });
    const first = body();
    pods = pods.map((p) => ({ ...p }));
    expect(body()).toBe(first);
    pods = [{ ...pods[0]!, status: { phase: 'Succeeded' } }, pods[1]!];
    const second = body();
    expect(second).not.toBe(first);
    expect(JSON.parse(second.toString()).items[0].status).toEqual({ phase: 'Succeeded' });
    pods = [pods[1]!, pods[0]!];
    expect(JSON.parse(body().toString()).items.map((i: Pod) => i.metadata?.name)).toEqual(['b', 'a']);
    pods = [];
    expect(JSON.parse(body().toString()).items).toEqual([]);
  });
});

test('a port in use is told with the fields that choose it, and taken as soon as it is free', async () => {
  const other = createServer();
  const port = await new Promise<number>((resolve) =>
    other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
  );
  const log: string[] = [];
  const told = Promise.withResolvers<void>();
  const server = serveHealthz({
    host: '127.0.0.1',
    port,
    view: view(),
    restartMs: 5,
    log: (level, message) => {
      log.push(`${level}: ${message}`);
      told.resolve();
    },
  });
  open.push(server);
  await told.promise;
  expect(log).toEqual([
    `error: healthz server on 127.0.0.1:${port} (healthzBindAddress, healthzPort): the port is in use; trying again every 0.005 s`,
  ]);
  other.close();
  await server.listening;
  expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()).toBe('ok');
  expect(log).toHaveLength(2);
});
