import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { connectKube, type Kube, type WatchEvent } from '../../../services/kube/client.ts';
import type { KubeConfig } from '../../../services/kube/kube-config.types.ts';
import { until } from '../../support/until.ts';
import { json, makePki, serve, type TestServer } from './server.ts';

const pki = makePki();
afterAll(() => pki.remove());

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const run of cleanUps.splice(0).reverse()) await run();
});

const OPTIONS = { qps: -1, burst: 0, events: { qps: -1, burst: 0 }, userAgent: 'statelet/test' };

function connect(server: Pick<TestServer, 'url'>, more: Partial<KubeConfig> = {}): Kube {
  const kube = connectKube(
    {
      origin: 'test',
      server: server.url,
      certificateAuthority: { data: pki.text('ca.crt') },
      insecureSkipTlsVerify: false,
      ...more,
    },
    OPTIONS,
  );
  cleanUps.push(() => kube.close());
  return kube;
}

async function started(...args: Parameters<typeof serve>): Promise<TestServer> {
  const server = await serve(...args);
  cleanUps.push(() => server.close());
  return server;
}

const get = (kube: Kube, path = '/api/v1/x') => kube.request<{ a: number }>({ method: 'GET', path });
const refusal = (code: number, reason: string, more: object = {}) => ({ kind: 'Status', code, reason, message: `no ${reason}`, ...more }); // prettier-ignore

describe.each(['h2', 'https', 'http'] as const)('over %s', (protocol) => {
  test('a call carries method, query, JSON body, its content type and who asks, and gives the parsed answer', async () => {
    const server = await started(protocol, pki, (_, response) => json(response, { a: 1 }));
    const kube = connect({ url: `${server.url}/below/` }, { token: { data: 'secret' } });
    const answer = await kube.request({
      method: 'PATCH',
      path: '/api/v1/x',
      query: { fieldSelector: 'spec.nodeName=a', limit: 0, not: undefined },
      body: { ä: 1 },
      contentType: 'application/merge-patch+json',
    });
    expect(answer).toEqual({ a: 1 });
    expect(server.seen).toMatchObject([
      {
        method: 'PATCH',
        path: '/below/api/v1/x?fieldSelector=spec.nodeName%3Da&limit=0',
        body: '{"ä":1}',
        httpVersion: protocol === 'h2' ? '2.0' : '1.1',
        headers: {
          accept: 'application/json',
          authorization: 'Bearer secret',
          'content-type': 'application/merge-patch+json',
          'user-agent': 'statelet/test',
        },
      },
    ]);
  });

  test('one connection serves calls one after the other', async () => {
    const server = await started(protocol, pki, (_, response) => json(response, { a: 1 }));
    const kube = connect(server);
    for (let i = 0; i < 5; i++) await get(kube);
    expect(server.connections).toBe(1);
  });

  test('many calls at once share few connections', async () => {
    const server = await started(protocol, pki, (_, response) => json(response, { a: 1 }));
    const kube = connect(server);
    await Promise.all(Array.from({ length: 200 }, () => get(kube)));
    expect(server.connections).toBeLessThanOrEqual(protocol === 'h2' ? 1 : 8);
  });

  test.each([
    [404, refusal(404, 'NotFound'), 'NotFound', false],
    [409, refusal(409, 'AlreadyExists'), 'AlreadyExists', false],
    [410, refusal(410, 'Gone'), 'Expired', false],
    [403, refusal(403, ''), 'Forbidden', false],
    [500, refusal(500, 'InternalError'), 'InternalError', true],
    [503, {}, 'ServiceUnavailable', true],
    [502, {}, 'InternalError', true],
  ])('a refusal %i bears the reason of Kubernetes', async (code, body, reason, transient) => {
    const server = await started(protocol, pki, (_, response) => json(response, body, code));
    await expect(get(connect(server))).rejects.toMatchObject({ op: 'GET /api/v1/x', reason, transient });
  });

  test('a server that is overloaded says for how long it wants to be left alone', async () => {
    const answers = [refusal(429, 'TooManyRequests', { details: { retryAfterSeconds: 3 } }), refusal(429, '')];
    const server = await started(protocol, pki, (_, response) => {
      response.setHeader('retry-after', '7');
      json(response, answers.shift() ?? {}, 429);
    });
    const kube = connect(server);
    const expected = { reason: 'TooManyRequests', transient: true };
    await expect(get(kube)).rejects.toMatchObject({ ...expected, retryAfterMs: 3000 });
    await expect(get(kube)).rejects.toMatchObject({ ...expected, retryAfterMs: 7000 });
  });

  test('a call without an answer ends at its deadline, and the next one works', async () => {
    const server = await started(protocol, pki, ({ path }, response) => path === '/hang' || json(response, { a: 1 }));
    const kube = connect(server);
    await expect(kube.request({ method: 'GET', path: '/hang', deadlineMs: 50 })).rejects.toMatchObject({
      reason: 'DEADLINE_EXCEEDED',
      transient: true,
    });
    expect(await get(kube)).toEqual({ a: 1 });
  });

  test('a call that is given up ends at once', async () => {
    const server = await started(protocol, pki, () => undefined);
    const kube = connect(server);
    const stop = new AbortController();
    const call = kube.request({ method: 'GET', path: '/hang', signal: stop.signal });
    await until('it is asked', () => server.seen.length === 1);
    stop.abort();
    await expect(call).rejects.toMatchObject({ reason: 'CANCELLED' });
    await expect(kube.request({ method: 'GET', path: '/', signal: stop.signal })).rejects.toMatchObject({
      reason: 'CANCELLED',
    });
    expect(server.seen).toHaveLength(1);
  });

  test('a connection that breaks before the answer, or within it, is told, and a new one is made', async () => {
    const ways: ((response: ServerResponse) => unknown)[] = [
      () => server.sockets.forEach((socket) => socket.destroy()),
      (response) => {
        response.writeHead(200);
        response.write('{"a":');
        setTimeout(() => server.sockets.forEach((socket) => socket.destroy()), 50);
      },
    ];
    const server: TestServer = await started(protocol, pki, (_, response) => {
      const way = ways.shift();
      if (way) way(response);
      else json(response, { a: 1 });
    });
    const kube = connect(server);
    await expect(get(kube)).rejects.toMatchObject({ reason: 'UNAVAILABLE', transient: true });
    await expect(get(kube)).rejects.toMatchObject({ reason: 'UNAVAILABLE', transient: true });
    expect(await get(kube)).toEqual({ a: 1 });
  });

  test('a server that is away is told at once, and found again when it is back', async () => {
    const first = await serve(protocol, pki, (_, response) => json(response, { a: 1 }));
    const kube = connect(first);
    await get(kube);
    await first.close();
    const error = await get(kube).catch((e: unknown) => e);
    expect(error).toMatchObject({ reason: 'UNAVAILABLE', transient: true });
    await expect(get(kube)).rejects.toThrow(/127\.0\.0\.1:\d+ is not available: .*ECONNREFUSED/);
    await started(protocol, pki, (_, response) => json(response, { a: 2 }), first.port);
    expect(await get(kube)).toEqual({ a: 2 });
  });

  test('an answer that is not JSON is no answer', async () => {
    const server = await started(protocol, pki, (_, response) => response.end('<html>'));
    await expect(get(connect(server))).rejects.toMatchObject({ reason: 'InvalidResponse' });
  });

  test('closing ends what is under way', async () => {
    const server = await started(protocol, pki, () => undefined);
    const kube = connect(server);
    const call = get(kube);
    await until('it is asked', () => server.seen.length === 1);
    kube.close();
    await expect(call).rejects.toMatchObject({ reason: 'CANCELLED' });
    await until('the connection is gone', () => server.sockets.size === 0);
  });

  describe('a watch', () => {
    const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
    const pod = (name: string) => ({ metadata: { name } });
    const watching = (kube: Kube, signal = new AbortController().signal) => {
      const events: WatchEvent[] = [];
      const onEvent = (event: WatchEvent) => void events.push(event);
      const over = kube.watch({ path: '/w', query: { timeoutSeconds: 300 }, signal, onEvent });
      return { events, over };
    };

    test('tells each event, however it is cut into pieces, until the server ends it', async () => {
      const text = Buffer.from(line('ADDED', pod('größe')) + line('MODIFIED', pod('b')) + line('BOOKMARK', {}));
      const server = await started(protocol, pki, async (_, response) => {
        response.writeHead(200);
        for (const byte of text) {
          response.write(Buffer.from([byte]));
          await new Promise(setImmediate);
        }
        response.end();
      });
      const { events, over } = watching(connect(server));
      await over;
      expect(events).toEqual([
        { type: 'ADDED', object: pod('größe') },
        { type: 'MODIFIED', object: pod('b') },
        { type: 'BOOKMARK', object: {} },
      ]);
      expect(server.seen[0]?.path).toBe('/w?timeoutSeconds=300&watch=true');
    });

    test('holds up no call, nor do other watches', async () => {
      const server = await started(protocol, pki, ({ path }, response) => {
        if (!path.startsWith('/w')) return json(response, { a: 1 });
        response.writeHead(200);
        response.write(line('ADDED', pod('a')));
      });
      const kube = connect(server);
      const watches = Array.from({ length: 12 }, () => watching(kube));
      await until('all are open', () => watches.every(({ events }) => events.length === 1));
      expect(await get(kube)).toEqual({ a: 1 });
      kube.close();
      const ends = await Promise.allSettled(watches.map(({ over }) => over));
      expect(ends.every((end) => end.status === 'rejected')).toBe(true);
    });

    test('ends with Expired where the server has no more what happened since', async () => {
      const ways: ((response: ServerResponse) => void)[] = [
        (response) => json(response, refusal(410, 'Expired'), 410),
        (response) => response.end(line('ERROR', refusal(410, 'Expired'))),
        (response) => response.end(line('ERROR', refusal(410, 'Gone'))),
      ];
      const server = await started(protocol, pki, (_, response) => ways.shift()?.(response));
      const kube = connect(server);
      for (let i = 0; i < 3; i++) await expect(watching(kube).over).rejects.toMatchObject({ reason: 'Expired' });
    });

    test('fails when its connection breaks', async () => {
      const server: TestServer = await started(protocol, pki, (_, response) => {
        response.writeHead(200);
        response.write(line('ADDED', pod('a')));
      });
      const { events, over } = watching(connect(server));
      await until('it is open', () => events.length === 1);
      server.sockets.forEach((socket) => socket.destroy());
      await expect(over).rejects.toMatchObject({ reason: 'UNAVAILABLE', transient: true });
    });

    test('ends when it is given up, and the server sees it', async () => {
      let closed = false;
      const server = await started(protocol, pki, (_, response) => {
        response.on('close', () => (closed = true));
        response.writeHead(200);
        response.write(line('ADDED', pod('a')));
      });
      const stop = new AbortController();
      const { events, over } = watching(connect(server), stop.signal);
      await until('it is open', () => events.length === 1);
      stop.abort();
      await expect(over).rejects.toMatchObject({ reason: 'CANCELLED' });
      await until('the server knows', () => closed);
    });
  });
});
