import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { until } from '../../../support/until.ts';
import { closedPort, LOCAL, probeOnce, rawServer, timed } from './rig.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

type Call = ServerUnaryCall<Buffer, Buffer>;
type Answer = (service: string, answer: sendUnaryData<Buffer>, call: Call) => void;

/** A server with one unary method, whose messages stay bytes; what it does is up to the test. */
async function grpcServer(answer: Answer, path = '/grpc.health.v1.Health/Check'): Promise<number> {
  const server = new Server();
  const bytes = (value: Buffer) => value;
  const plain = { requestStream: false, responseStream: false, requestSerialize: bytes, requestDeserialize: bytes };
  server.addService(
    { check: { path, ...plain, responseSerialize: bytes, responseDeserialize: bytes } },
    // Field 1, a string shorter than 128 bytes; absent where it is empty.
    { check: (call: Call, done: sendUnaryData<Buffer>) => answer(call.request.subarray(2).toString(), done, call) },
  );
  open.push({ close: () => server.forceShutdown() });
  return await new Promise((resolve, reject) =>
    server.bindAsync(`${LOCAL}:0`, ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
}

const says =
  (...bytes: number[]): Answer =>
  (_service, answer) =>
    answer(null, Buffer.from(bytes));
const refuses =
  (code: status, details: string): Answer =>
  (_service, answer) =>
    answer({ code, details });
const probe = (port: number, service?: string, timeoutSeconds = 5) =>
  probeOnce({ grpc: { port, service }, timeoutSeconds });

describe('a gRPC probe', () => {
  test('of a server that serves is a success', async () => {
    await expect(probe(await grpcServer(says(8, 1)))).resolves.toEqual({
      result: 'success',
      message: 'service healthy',
    });
  });

  test('asks for its service, as kube-probe', async () => {
    const asked: unknown[] = [];
    const port = await grpcServer((service, answer, call) => {
      asked.push(service, call.metadata.get('user-agent')[0]);
      answer(null, Buffer.from([8, 1]));
    });
    await probe(port, 'shop.Cart');
    await probe(port);
    expect(asked).toEqual(['shop.Cart', expect.stringMatching(/^kube-probe\/1\.36\b/), '', expect.anything()]);
  });

  test.each([
    ['NOT_SERVING', [8, 2]],
    ['SERVICE_UNKNOWN', [8, 3]],
    ['UNKNOWN', [8, 0]],
    ['UNKNOWN', []],
    ['9', [8, 9]],
  ])('of a server that says %s is a failure', async (name, bytes) => {
    await expect(probe(await grpcServer(says(...bytes)))).resolves.toEqual({
      result: 'failure',
      message: `service unhealthy (responded with "${name}")`,
    });
  });

  test('passes over fields that it does not know', async () => {
    const port = await grpcServer(says(0x12, 2, 0x41, 0x42, 8, 1));
    await expect(probe(port)).resolves.toMatchObject({ result: 'success' });
  });

  test('of a server without the health service is a failure that says so', async () => {
    const port = await grpcServer(says(), '/other.Service/Call');
    await expect(probe(port)).resolves.toEqual({
      result: 'failure',
      message: expect.stringMatching(
        /^error: this server does not implement the grpc health protocol \(grpc\.health\.v1\.Health\): ./,
      ),
    });
  });

  test.each([
    [status.NOT_FOUND, 'unknown service', 'code = NotFound desc = unknown service'],
    [status.UNAVAILABLE, 'draining', 'code = Unavailable desc = draining'],
  ])('that is refused with status %d is a failure', async (code, details, told) => {
    await expect(probe(await grpcServer(refuses(code, details)))).resolves.toEqual({
      result: 'failure',
      message: `error: health rpc probe failed: rpc error: ${told}`,
    });
  });

  test('that is not answered in time is a failure, and the call is cut', async () => {
    let cut = false;
    const port = await grpcServer((_service, _answer, call) => void call.on('cancelled', () => (cut = true)));
    const { outcome, ms } = await timed(() => probe(port, 'a', 0.5));
    expect(outcome).toEqual({ result: 'failure', message: 'timeout: health rpc did not complete within 500ms' });
    expect(ms).toBeLessThan(2_000);
    await until('the call is cut', () => cut);
  });

  test('finds nobody: the message names the address and the reason', async () => {
    const port = await closedPort();
    await expect(probe(port)).resolves.toEqual({
      result: 'failure',
      message: `error: failed to connect service at "${LOCAL}:${port}": dial tcp ${LOCAL}:${port}: connect: connection refused`,
    });
  });

  test('of a server that says nothing is a failure within its time, and leaves no connection', async () => {
    const server = await rawServer(() => undefined);
    open.push(server);
    const { outcome, ms } = await timed(() => probe(server.port, '', 0.5));
    expect(outcome).toEqual({
      result: 'failure',
      message: `timeout: failed to connect service "${LOCAL}:${server.port}" within 500ms: context deadline exceeded`,
    });
    expect(ms).toBeLessThan(2_000);
    await until('the connection is closed', () => server.sockets.size === 0);
  });

  test.each([
    ['speaks HTTP/1', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['hangs up', ''],
  ])('of a server that %s is a failure, and leaves no connection', async (_what, text) => {
    const server = await rawServer((socket) => void socket.once('data', () => socket.end(text)));
    open.push(server);
    await expect(probe(server.port)).resolves.toMatchObject({
      result: 'failure',
      message: expect.stringContaining(`error: failed to connect service at "${LOCAL}:${server.port}": `),
    });
    await until('the connection is closed', () => server.sockets.size === 0);
  });

  test.each([
    [404, 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): '],
    [503, 'error: health rpc probe failed: rpc error: code = Unavailable desc = '],
    [418, 'error: health rpc probe failed: rpc error: code = Unknown desc = '],
  ])('of an HTTP/2 server that knows no gRPC and says %d is a failure', async (code, words) => {
    const server = createServer((_request, response) => void response.writeHead(code).end('x'.repeat(100)));
    await once(server.listen(0, LOCAL), 'listening');
    open.push({ close: () => void server.close() });
    await expect(probe((server.address() as AddressInfo).port)).resolves.toEqual({
      result: 'failure',
      message: `${words}unexpected HTTP status code received from server: ${code}`,
    });
  });

  test.each([
    ['is no message', says(0x0a, 0x7f), 'the answer is no HealthCheckResponse'],
    ['is far too long', says(...new Array<number>(20_000).fill(0)), 'the answer is too long'],
  ])('whose answer %s is a failure', async (_what, answer, why) => {
    await expect(probe(await grpcServer(answer))).resolves.toMatchObject({
      result: 'failure',
      message: expect.stringMatching(new RegExp(`^error: health rpc probe failed: .*${why}$`)),
    });
  });

  test('leaves no connection to a server that serves', async () => {
    const sessions = new Set<unknown>();
    let served = 0;
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/grpc' });
      response.addTrailers({ 'grpc-status': '0' });
      response.end(Buffer.from([0, 0, 0, 0, 2, 8, 1]));
    });
    server.on('session', (session) => {
      served += 1;
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
    });
    await once(server.listen(0, LOCAL), 'listening');
    open.push({ close: () => void server.close() });
    const { port } = server.address() as AddressInfo;
    for (let run = 0; run < 5; run += 1) await expect(probe(port)).resolves.toMatchObject({ result: 'success' });
    await until('the connections are closed', () => sessions.size === 0);
    expect(served).toBe(5);
  });

  test('of a pod without an address cannot be made', async () => {
    await expect(probeOnce({ grpc: { port: 1 } }, {}, '')).rejects.toMatchObject({ reason: 'InvalidProbe' });
  });
});
