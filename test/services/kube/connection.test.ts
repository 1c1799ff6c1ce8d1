import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { connect as connectTcp, createServer as createTcp, type AddressInfo, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { connectKube, type Kube } from '../../../services/kube/client.ts';
import { clientCredentials } from '../../../services/kube/credentials.ts';
import { dial } from '../../../services/kube/dial.ts';
import { http2Transport } from '../../../services/kube/http2.ts';
import type { KubeConfig } from '../../../services/kube/kube-config.types.ts';
import { until } from '../../support/until.ts';
import { json, makePki, MAX_STREAMS, serve, type TestServer } from './server.ts';

const pki = makePki();
beforeAll(() => {
  pki.client('old', 'system:node:old');
  pki.client('new', 'system:node:new');
});
afterAll(() => pki.remove());

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const run of cleanUps.splice(0).reverse()) await run();
});

const OPTIONS = { qps: -1, burst: 0, events: { qps: -1, burst: 0 }, userAgent: 'test' };
const config = (server: string, more: Partial<KubeConfig> = {}): KubeConfig => ({
  origin: 'test',
  server,
  certificateAuthority: { data: pki.text('ca.crt') },
  insecureSkipTlsVerify: false,
  ...more,
});

function connect(server: string, more: Partial<KubeConfig> = {}): Kube {
  const kube = connectKube(config(server, more), OPTIONS);
  cleanUps.push(() => kube.close());
  return kube;
}

async function started(...args: Parameters<typeof serve>): Promise<TestServer> {
  const server = await serve(...args);
  cleanUps.push(() => server.close());
  return server;
}

async function listening(server: Server | ReturnType<typeof createTcp>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const get = (kube: Kube) => kube.request<{ a: number }>({ method: 'GET', path: '/x' });
const answered = { a: 1 };

describe.each(['h2', 'https'] as const)('over %s', (protocol) => {
  const start = () => started(protocol, pki, (_, response) => json(response, answered));

  test('a client certificate says who asks', async () => {
    const server = await start();
    const who = { clientCertificate: { data: pki.text('old.crt') }, clientKey: { data: pki.text('old.key') } };
    expect(await get(connect(server.url, who))).toEqual(answered);
    expect(server.seen[0]?.commonName).toBe('system:node:old');
  });

  test('a server of another CA or of another name is not asked, save by those who do not care', async () => {
    const server = await start();
    const other = makePki();
    cleanUps.push(() => other.remove());
    const foreign = connect(server.url, { certificateAuthority: { data: other.text('ca.crt') } });
    await expect(get(foreign)).rejects.toMatchObject({ reason: 'UNAVAILABLE', message: /certificate/ as unknown });
    const misnamed = connect(server.url, { tlsServerName: 'other.test' });
    await expect(get(misnamed)).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect(server.seen).toHaveLength(0);
    expect(await get(connect(server.url, { tlsServerName: 'apiserver.test' }))).toEqual(answered);
    const careless = connect(server.url, { certificateAuthority: undefined, insecureSkipTlsVerify: true });
    expect(await get(careless)).toEqual(answered);
  });

  test('new certificates are used by new calls, while a watch goes on', async () => {
    let refuse = false;
    const server = await started(protocol, pki, ({ path }, response) => {
      if (path.startsWith('/w')) return response.writeHead(200).write('{"type":"BOOKMARK","object":{}}\n');
      json(response, answered, refuse ? 401 : 200);
    });
    const [cert, key] = [pki.file('node.crt'), pki.file('node.key')];
    copyFileSync(pki.file('old.crt'), cert);
    copyFileSync(pki.file('old.key'), key);
    const kube = connect(server.url, { clientCertificate: { file: cert }, clientKey: { file: key } });
    const watch = { opened: false, over: false };
    const stop = new AbortController();
    const watching = kube
      .watch({ path: '/w', query: { timeoutSeconds: 60 }, signal: stop.signal, onEvent: () => (watch.opened = true) })
      .catch((error: unknown) => error)
      .finally(() => (watch.over = true));
    await until('the watch is open', () => watch.opened);
    await get(kube);
    copyFileSync(pki.file('new.crt'), cert);
    copyFileSync(pki.file('new.key'), key);
    refuse = true;
    await expect(get(kube)).rejects.toMatchObject({ reason: 'Unauthorized', transient: false });
    refuse = false;
    expect(await get(kube)).toEqual(answered);
    expect(server.seen.map(({ commonName }) => commonName?.slice('system:node:'.length))).toEqual([
      'old',
      'old',
      'old',
      'new',
    ]);
    expect(watch.over).toBe(false);
    stop.abort();
    expect(await watching).toMatchObject({ reason: 'CANCELLED' });
    await until('only one connection is left', () => server.sockets.size === 1);
  });

  test('a token that was refused is read again for the next call', async () => {
    const server = await started(protocol, pki, ({ headers }, response) =>
      json(response, answered, headers.authorization === 'Bearer new' ? 200 : 401),
    );
    const file = pki.file('token');
    writeFileSync(file, 'old');
    const kube = connect(server.url, { token: { file } });
    await expect(get(kube)).rejects.toMatchObject({ reason: 'Unauthorized' });
    writeFileSync(file, 'new');
    expect(await get(kube)).toEqual(answered);
  });

  test('a proxy is asked for the way, and what it refuses is told', async () => {
    const server = await start();
    const asked: unknown[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket) => {
      asked.push([request.url, request.headers['proxy-authorization']]);
      if (asked.length === 1) return socket.end('HTTP/1.1 407 No\r\n\r\n');
      const out = connectTcp(server.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(out).pipe(socket);
      });
      out.on('error', () => socket.destroy());
      socket.on('error', () => out.destroy()).on('close', () => out.destroy());
    });
    const port = await listening(proxy);
    const kube = connect(server.url, { proxyUrl: `http://u:p%40@127.0.0.1:${port}` });
    await expect(get(kube)).rejects.toThrow(`the proxy at 127.0.0.1:${port} answered 407 to CONNECT`);
    expect(await get(kube)).toEqual(answered);
    const expected = [`127.0.0.1:${server.port}`, `Basic ${Buffer.from('u:p@').toString('base64')}`];
    expect(asked).toEqual([expected, expected]);
  });
});

test('a server that is about to leave (GOAWAY) finishes what it has, and new calls go elsewhere', async () => {
  const held: ServerResponse[] = [];
  const server = await started('h2', pki, ({ path }, response) =>
    path === '/held' ? void held.push(response) : json(response, answered),
  );
  const kube = connect(server.url);
  const call = kube.request({ method: 'GET', path: '/held' });
  const response = await until('it is asked', () => held[0]);
  (response as unknown as Http2ServerResponse).stream.session?.goaway(0);
  await until('new calls have a connection of their own', async () => {
    expect(await get(kube)).toEqual(answered);
    return server.connections === 2;
  });
  json(response, answered);
  expect(await call).toEqual(answered);
  await until('the old connection is gone', () => server.sockets.size === 1);
});

test('more calls than the server takes at once wait for their turn', async () => {
  const server = await started('h2', pki, (_, response) => void setImmediate(() => json(response, answered)));
  const kube = connect(server.url);
  const calls = await Promise.allSettled(Array.from({ length: 10 * MAX_STREAMS }, () => get(kube)));
  expect(calls.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(server.connections).toBe(1);
});

test('a server that takes connections and says nothing costs a call its deadline, no more', async () => {
  const port = await listening(createTcp());
  const kube = connect(`https://127.0.0.1:${port}`);
  await expect(kube.request({ method: 'GET', path: '/x', deadlineMs: 100 })).rejects.toMatchObject({
    reason: 'DEADLINE_EXCEEDED',
    message: `GET /x: the API server at 127.0.0.1:${port} did not answer within 0.1 s`,
  });
});

test('a server that falls silent is found dead by pings: all that is open on it fails, and a new connection is used', async () => {
  const server = await started('h2', pki, (_, response) => void response.writeHead(200).write('{'));
  const target = { host: '127.0.0.1', port: server.port, secure: true, insecureSkipTlsVerify: true };
  // What stands between: it can swallow everything.
  const between = { silent: false };
  const port = await listening(
    createTcp((socket) => {
      const out = connectTcp(server.port, '127.0.0.1');
      socket.on('data', (data) => between.silent || out.write(data)).on('error', () => undefined);
      out.on('data', (data) => between.silent || socket.write(data)).on('error', () => undefined);
      socket.on('close', () => out.destroy());
    }),
  );
  const tls = await clientCredentials(config(server.url)).tls();
  const socket = await dial({ ...target, port }, tls, ['h2'], AbortSignal.timeout(5_000));
  const transport = await http2Transport(socket, target, { everyMs: 20, timeoutMs: 200 });
  cleanUps.push(() => transport.destroy());
  const signal = new AbortController().signal;
  const { body, complete } = await transport.send({ method: 'GET', path: '/', headers: {}, streaming: true, signal });
  const end = (async () => {
    for await (const _ of body);
    if (!complete()) throw new Error('cut');
  })();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(transport.usable).toBe(true);
  between.silent = true;
  await expect(end).rejects.toThrow();
  expect(transport.usable).toBe(false);
});
