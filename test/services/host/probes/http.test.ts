import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Probe } from '../../../../machines/kubernetes.types.ts';
import { until } from '../../../support/until.ts';
import { makePki, serve } from '../../kube/server.ts';
import type { Pki, Seen, TestServer } from '../../kube/server.ts';
import { closedPort, LOCAL, probeOnce, rawServer, timed } from './rig.ts';

const run = promisify(execFile);

let pki: Pki;
beforeAll(() => {
  pki = makePki();
});
afterAll(() => pki.remove());

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function listening<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  open.push(server);
  return server;
}

type Handler = (seen: Seen, response: ServerResponse) => void;
const http = (handler: Handler): Promise<TestServer> => listening(serve('http', pki, handler));
const https = (handler: Handler): Promise<TestServer> => listening(serve('https', pki, handler));
const raw = (text: string) => listening(rawServer((socket) => void socket.once('data', () => socket.end(text))));
const ok: Handler = (_seen, response) => void response.end('fine');
const redirect =
  (to: (path: string) => string | undefined, code = 302): Handler =>
  ({ path }, response) => {
    const location = to(path);
    response.writeHead(location === undefined ? 200 : code, location === undefined ? {} : { location });
    response.end(location === undefined ? `at ${path}` : 'moved');
  };

const get = (port: number | string, httpGet: Partial<NonNullable<Probe['httpGet']>> = {}, timeoutSeconds = 5) =>
  probeOnce({ httpGet: { path: '/healthz', port, scheme: 'HTTP', ...httpGet }, timeoutSeconds });

describe('what an HTTP probe asks', () => {
  test('a GET of the path, as kube-probe, that takes anything and no second request', async () => {
    const { port, seen } = await http(ok);
    await expect(get(port, { path: 'a b?q=1#part' })).resolves.toEqual({ result: 'success', message: 'fine' });
    expect(seen).toMatchObject([{ method: 'GET', path: '/a%20b?q=1', body: '' }]);
    expect(seen[0]?.headers).toEqual({
      host: `${LOCAL}:${port}`,
      'user-agent': 'kube-probe/1.36',
      accept: '*/*',
      connection: 'close',
    });
  });

  test('the headers of the probe, also those that come twice, but never another connection', async () => {
    const { port, seen } = await http(ok);
    const httpHeaders = [
      { name: 'X-Token', value: 'one' },
      { name: 'x-token', value: 'two' },
      { name: 'X-Name', value: 'Jürgen €' },
      { name: 'User-Agent', value: 'mine' },
      { name: 'Accept', value: 'text/html' },
      { name: 'Host', value: 'web.example:99' },
      { name: 'Connection', value: 'keep-alive' },
      { name: 'Content-Length', value: '7' },
    ];
    await expect(get(port, { httpHeaders })).resolves.toMatchObject({ result: 'success' });
    expect({
      ...seen[0]?.headers,
      'x-name': Buffer.from(String(seen[0]?.headers['x-name']), 'latin1').toString(),
    }).toEqual({
      host: 'web.example:99',
      'x-token': 'one, two',
      'x-name': 'Jürgen €',
      'user-agent': 'mine',
      accept: 'text/html',
      connection: 'close',
    });
  });

  test('no Accept and no User-Agent where the probe has empty ones', async () => {
    const { port, seen } = await http(ok);
    const httpHeaders = [
      { name: 'accept', value: '' },
      { name: 'user-agent', value: '' },
    ];
    await get(port, { httpHeaders });
    expect(Object.keys(seen[0]?.headers ?? {}).sort()).toEqual(['connection', 'host']);
  });

  test('at the port that the container names so', async () => {
    const { port } = await http(ok);
    const probe = { httpGet: { port: 'web', path: '/' } };
    await expect(probeOnce(probe, { ports: [{ name: 'web', containerPort: port }] })).resolves.toMatchObject({
      result: 'success',
    });
    await expect(probeOnce(probe)).rejects.toMatchObject({ reason: 'InvalidProbe' });
  });

  test('at the host that it names', async () => {
    const { port } = await http(ok);
    const httpGet = { port, path: '/', host: LOCAL };
    await expect(probeOnce({ httpGet }, {}, '127.0.0.3')).resolves.toMatchObject({ result: 'success' });
    await expect(probeOnce({ httpGet: { ...httpGet, host: 'no host' } })).rejects.toMatchObject({
      reason: 'InvalidProbe',
    });
  });

  test('through no proxy, though the agent itself may be told to use one', async () => {
    const proxy = await http((_seen, response) => void response.writeHead(500).end());
    const { port, seen } = await http(ok);
    const script = `
      const { runProbe } = await import(${JSON.stringify(new URL('../../../../services/host/probes/index.ts', import.meta.url).href)});
      const input = { probe: { httpGet: { port: ${port}, path: '/' } }, container: {}, podIP: '${LOCAL}' };
      console.log(JSON.stringify(await runProbe()(input, new AbortController().signal)));`;
    const env = { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, NO_PROXY: '' };
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(JSON.parse(stdout)).toEqual({ result: 'success', message: 'fine' });
    expect([seen.length, proxy.seen.length]).toEqual([1, 0]);
  });

  test('a header that no request can have is a failure that does not show its value', async () => {
    const { port } = await http(ok);
    const outcome = await get(port, { httpHeaders: [{ name: 'X-Key', value: 'secret\r\nX: y' }] });
    expect(outcome).toMatchObject({ result: 'failure', message: expect.stringContaining('X-Key') });
    expect(outcome.message).not.toContain('secret');
  });

  test('over TLS whatever the certificate; a Host header is also the name that TLS asks for', async () => {
    const names: unknown[] = [];
    const key = { key: pki.text('server.key'), cert: pki.text('server.crt') };
    const server = createServer(key, (request, response) => {
      names.push([request.headers.host, (request.socket as TLSSocket).servername]);
      response.end('fine');
    });
    await once(server.listen(0, LOCAL), 'listening');
    open.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
    const { port } = server.address() as AddressInfo;
    await expect(get(port, { scheme: 'HTTPS' })).resolves.toEqual({ result: 'success', message: 'fine' });
    const httpHeaders = [{ name: 'Host', value: 'web.example:443' }];
    await expect(get(port, { scheme: 'HTTPS', httpHeaders })).resolves.toMatchObject({ result: 'success' });
    expect(names).toEqual([
      [`${LOCAL}:${port}`, false],
      ['web.example:443', 'web.example'],
    ]);
  });
});

describe('what an HTTP probe makes of the answer', () => {
  test.each([
    [200, 'success', 'seen'],
    [204, 'success', ''],
    [304, 'warning', 'Probe terminated redirects, Response body: '],
    [302, 'warning', 'Probe terminated redirects, Response body: seen'],
    [400, 'failure', 'HTTP probe failed with statuscode: 400'],
    [404, 'failure', 'HTTP probe failed with statuscode: 404'],
    [500, 'failure', 'HTTP probe failed with statuscode: 500'],
  ])('status %d is a %s', async (code, result, message) => {
    const { port } = await http((_seen, response) => void response.writeHead(code).end('seen'));
    await expect(get(port)).resolves.toEqual({ result, message });
  });

  test('reads 10,240 bytes of a body without end, and closes', async () => {
    const { port, sockets } = await http((_seen, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1_000)));
      };
      response.on('drain', more);
      more();
    });
    const { outcome, ms } = await timed(() => get(port));
    expect(outcome).toEqual({ result: 'success', message: 'x'.repeat(10_240) });
    expect(ms).toBeLessThan(2_000);
    await until('the connection is closed', () => sockets.size === 0);
  });

  test('of a failure it waits for no body', async () => {
    const { port, sockets } = await http((_seen, response) => void response.writeHead(503).write('so'));
    const { outcome, ms } = await timed(() => get(port, {}, 60));
    expect(outcome).toEqual({ result: 'failure', message: 'HTTP probe failed with statuscode: 503' });
    expect(ms).toBeLessThan(2_000);
    await until('the connection is closed', () => sockets.size === 0);
  });

  test('a body that breaks off is a failure', async () => {
    const { port } = await raw('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort');
    await expect(get(port)).resolves.toEqual({ result: 'failure', message: 'unexpected EOF' });
  });

  test('a sloppy answer is an answer', async () => {
    const { port } = await raw('HTTP/1.1 200 OK\nX-Odd: \x01\n\nfine');
    await expect(get(port)).resolves.toMatchObject({ result: 'success', message: 'fine' });
  });

  test('what is no HTTP is a failure', async () => {
    const { port } = await raw('SSH-2.0-OpenSSH_9.6\r\n');
    await expect(get(port)).resolves.toMatchObject({
      result: 'failure',
      message: expect.stringMatching(new RegExp(`^Get "http://${LOCAL}:${port}/healthz": Parse Error`)),
    });
  });
});

describe('where an HTTP probe finds no server', () => {
  test('nobody listens: the message names URL and reason', async () => {
    const port = await closedPort();
    await expect(get(port)).resolves.toEqual({
      result: 'failure',
      message: `Get "http://${LOCAL}:${port}/healthz": dial tcp ${LOCAL}:${port}: connect: connection refused`,
    });
  });

  test('a connection that is closed without an answer', async () => {
    const { port } = await listening(rawServer((socket) => void socket.once('data', () => socket.end())));
    await expect(get(port)).resolves.toEqual({
      result: 'failure',
      message: `Get "http://${LOCAL}:${port}/healthz": EOF`,
    });
  });

  test('HTTP where HTTPS is asked for', async () => {
    const { port } = await http(ok);
    await expect(get(port, { scheme: 'HTTPS' })).resolves.toEqual({
      result: 'failure',
      message: `Get "https://${LOCAL}:${port}/healthz": http: server gave HTTP response to HTTPS client`,
    });
  });

  const awaiting = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  test.each([
    ['never answers', () => undefined, awaiting],
    [
      'sends its headers byte by byte',
      (write: (text: string) => void) => {
        const bytes = [...'HTTP/1.1 200 OK\r\nX-Slow: 0123456789\r\n'];
        const timer = setInterval(() => write(bytes.shift() ?? ''), 50);
        return () => clearInterval(timer);
      },
      awaiting,
    ],
    [
      'sends its body byte by byte',
      (write: (text: string) => void) => {
        write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
        const timer = setInterval(() => write('x'), 50);
        return () => clearInterval(timer);
      },
      'context deadline exceeded (Client.Timeout or context cancellation while reading body)',
    ],
  ])('a server that %s is a failure when the time is over', async (_what, answer, message) => {
    const server = await listening(
      rawServer((socket) => {
        const stop = answer((text) => void socket.write(text));
        socket.on('close', () => stop?.());
      }),
    );
    const { outcome, ms } = await timed(() => get(server.port, {}, 0.4));
    expect(outcome.result).toBe('failure');
    expect(outcome.message.replace(/^Get "[^"]*": /, '')).toBe(message);
    expect(ms).toBeGreaterThan(390);
    expect(ms).toBeLessThan(2_000);
    await until('the connection is closed', () => server.sockets.size === 0);
  });

  test('redirects do not make the time longer', async () => {
    const { port, seen } = await http(({ path }, response) => {
      setTimeout(() => response.writeHead(302, { location: `${path}x` }).end(), 150);
    });
    const { outcome, ms } = await timed(() => get(port, {}, 0.4));
    expect(outcome).toMatchObject({ result: 'failure', message: expect.stringContaining(awaiting) });
    expect(ms).toBeLessThan(2_000);
    expect(seen.length).toBeGreaterThan(1);
  });

  test('one that is given up is no outcome, and leaves no connection', async () => {
    const server = await listening(rawServer(() => undefined));
    const gone = new AbortController();
    const probing = probeOnce(
      { httpGet: { port: server.port, path: '/' }, timeoutSeconds: 60 },
      {},
      LOCAL,
      gone.signal,
    );
    await until('it is connected', () => server.sockets.size === 1);
    gone.abort();
    await expect(probing).rejects.toMatchObject({ reason: 'CANCELLED' });
    await until('the connection is closed', () => server.sockets.size === 0);
  });
});

describe('B055 HTTP probes', () => {
  test('use a connection of their own each, and close it', async () => {
    const { port, sockets, ...server } = await http(ok);
    const seen: number[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      await expect(get(port)).resolves.toMatchObject({ result: 'success' });
      await until('the connection is closed', () => sockets.size === 0);
      seen.push(turn);
    }
    expect(server.seen.map(({ headers }) => headers.connection)).toEqual(seen.map(() => 'close'));
  });

  test('never fail with a server that offers to keep connections and then closes them', async () => {
    const text = 'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\nContent-Length: 4\r\n\r\nfine';
    const server = await listening(
      rawServer((socket) => {
        socket.once('data', () => {
          socket.write(text);
          setTimeout(() => socket.destroy(), 20);
        });
      }),
    );
    for (let turn = 0; turn < 20; turn += 1) {
      await expect(get(server.port)).resolves.toEqual({ result: 'success', message: 'fine' });
      await new Promise((resolve) => setTimeout(resolve, turn));
    }
    expect(server.connections).toBe(20);
  });
});

describe('B056 an HTTP probe that is redirected', () => {
  test.each([301, 302, 303, 307, 308])('follows a %d to another path of its host', async (code) => {
    const { port, seen } = await http(redirect((path) => (path === '/healthz' ? '../new?a=1' : undefined), code));
    await expect(get(port)).resolves.toEqual({ result: 'success', message: 'at /new?a=1' });
    expect(seen.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  test('follows to HTTPS on its own host, whatever the certificate', async () => {
    const secure = await https(ok);
    const { port } = await http(redirect(() => `${secure.url}/healthz`));
    await expect(get(port)).resolves.toEqual({ result: 'success', message: 'fine' });
    expect(secure.seen).toHaveLength(1);
  });

  test('fails where the redirected request fails', async () => {
    const closed = await closedPort();
    const { port } = await http(redirect(() => `https://${LOCAL}:${closed}/secure`));
    await expect(get(port)).resolves.toEqual({
      result: 'failure',
      message: `Get "https://${LOCAL}:${closed}/secure": dial tcp ${LOCAL}:${closed}: connect: connection refused`,
    });
  });

  test('to another host is healthy with a warning, and does not go there', async () => {
    const other = await http(ok);
    const { port, seen } = await http(redirect(() => `http://localhost:${other.port}/`));
    await expect(get(port)).resolves.toEqual({
      result: 'warning',
      message: 'Probe terminated redirects, Response body: moved',
    });
    expect([seen.length, other.seen.length]).toEqual([1, 0]);
  });

  test('in a circle fails after ten requests', async () => {
    const { port, seen } = await http(redirect((path) => path));
    await expect(get(port)).resolves.toEqual({
      result: 'failure',
      message: `Get "http://${LOCAL}:${port}/healthz": stopped after 10 redirects`,
    });
    expect(seen).toHaveLength(10);
  });

  test.each([
    [`http://${LOCAL}:99999/`, 'failed to parse Location header'],
    [`ftp://${LOCAL}/`, 'unsupported protocol scheme "ftp"'],
  ])('to %s fails', async (location, why) => {
    const { port } = await http(redirect(() => location));
    await expect(get(port)).resolves.toMatchObject({ result: 'failure', message: expect.stringContaining(why) });
  });

  test('keeps its headers, and its Host where the location names none', async () => {
    const { port, seen } = await http(
      redirect((path) => ({ '/healthz': '/two', '/two': `http://${LOCAL}:${port}/three` })[path]),
    );
    const httpHeaders = [
      { name: 'Host', value: 'web.example' },
      { name: 'X-Probe', value: 'yes' },
    ];
    await expect(get(port, { httpHeaders })).resolves.toMatchObject({ result: 'success' });
    expect(seen.map(({ headers }) => [headers.host, headers['x-probe']])).toEqual([
      ['web.example', 'yes'],
      ['web.example', 'yes'],
      [`${LOCAL}:${port}`, 'yes'],
    ]);
  });

  test('shows no password of a location', async () => {
    const closed = await closedPort();
    const { port } = await http(redirect(() => `http://me:secret@${LOCAL}:${closed}/`));
    const { result, message } = await get(port);
    expect(result).toBe('failure');
    expect(message).not.toContain('secret');
  });
});
