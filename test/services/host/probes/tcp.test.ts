import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { until } from '../../../support/until.ts';
import { closedPort, LOCAL, probeOnce, rawServer, timed } from './rig.ts';
import type { RawServer } from './rig.ts';

/** A listener of a process that stands still, with no room for one more connection: the kernel lets the next one wait. */
async function fullListener() {
  const script = `require('net').createServer().listen({ port: 0, host: '${LOCAL}', backlog: 1 }, function () {
    console.log(this.address().port);
  })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line);
  child.kill('SIGSTOP');
  const waiting = [1, 2, 3, 4].map(() => connect({ host: LOCAL, port }).on('error', () => undefined));
  await Promise.race(waiting.slice(0, 2).map((socket) => once(socket, 'connect')));
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of waiting) socket.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

let server: RawServer | undefined;
afterEach(() => server?.close());

describe('a TCP probe', () => {
  test('succeeds where somebody listens, and leaves no connection', async () => {
    server = await rawServer(() => undefined);
    const { port, sockets } = server;
    await expect(probeOnce({ tcpSocket: { port } })).resolves.toEqual({ result: 'success', message: '' });
    await until('the connection is closed', () => (sockets.size === 0 && server?.connections === 1 ? true : undefined));
  });

  test('fails where nobody listens, in the words of the kubelet', async () => {
    const port = await closedPort();
    await expect(probeOnce({ tcpSocket: { port } })).resolves.toEqual({
      result: 'failure',
      message: `dial tcp ${LOCAL}:${port}: connect: connection refused`,
    });
  });

  test('goes to the host that it names, not to the pod', async () => {
    server = await rawServer(() => undefined, '127.0.0.2');
    const probe = { tcpSocket: { port: server.port, host: '127.0.0.2' } };
    await expect(probeOnce(probe)).resolves.toMatchObject({ result: 'success' });
    await expect(probeOnce({ tcpSocket: { port: server.port } })).resolves.toMatchObject({ result: 'failure' });
  });

  test('finds the port by the name that the container gives it', async () => {
    server = await rawServer(() => undefined);
    const ports = [
      { name: 'admin', containerPort: 1 },
      { name: 'web', containerPort: server.port },
    ];
    await expect(probeOnce({ tcpSocket: { port: 'web' } }, { ports })).resolves.toMatchObject({ result: 'success' });
    await expect(probeOnce({ tcpSocket: { port: String(server.port) } })).resolves.toMatchObject({ result: 'success' });
  });

  test.each([
    ['a name that no port has', 'web', 'container "app" has no port "web"'],
    ['a number beyond the last port', 70_000, 'invalid port number: 70000'],
  ])('cannot be made to %s', async (_what, port, message) => {
    await expect(probeOnce({ tcpSocket: { port } })).rejects.toMatchObject({ reason: 'InvalidProbe', message });
  });

  test('cannot be made to a pod without an address', async () => {
    await expect(probeOnce({ tcpSocket: { port: 80 } }, {}, '')).rejects.toMatchObject({
      reason: 'InvalidProbe',
      message: 'the pod has no address to probe',
    });
  });

  test('that cannot connect in time fails when its time is over', async () => {
    await using full = await fullListener();
    const { outcome, ms } = await timed(() => probeOnce({ tcpSocket: { port: full.port }, timeoutSeconds: 0.3 }));
    expect(outcome).toEqual({ result: 'failure', message: `dial tcp ${LOCAL}:${full.port}: i/o timeout` });
    expect(ms).toBeGreaterThan(290);
    expect(ms).toBeLessThan(2_000);
  });

  test('names an IPv6 address in brackets', async () => {
    const { outcome } = await timed(() => probeOnce({ tcpSocket: { port: 1 } }, {}, '::1'));
    expect(outcome).toMatchObject({
      result: 'failure',
      message: expect.stringMatching(/^dial tcp \[::1\]:1: connect: /),
    });
  });

  test('that is given up is no outcome', async () => {
    server = await rawServer(() => undefined);
    await expect(probeOnce({ tcpSocket: { port: server.port } }, {}, LOCAL, AbortSignal.abort())).rejects.toMatchObject(
      { reason: 'CANCELLED' },
    );
  });
});

test('a probe without a handler cannot be made', async () => {
  await expect(probeOnce({})).rejects.toMatchObject({
    reason: 'InvalidProbe',
    message: 'missing probe handler for container "app"',
  });
});
