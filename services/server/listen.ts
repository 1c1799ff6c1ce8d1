import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RunningServer, ServerLog } from './server.types.ts';

/** How long the kubelet waits before it starts its healthz server again (cmd/kubelet/app/server.go:run). */
const RESTART_MS = 5000;

export interface ListenOptions {
  /** In messages: `healthz`. */
  name: string;
  /** The fields that say where, for messages: `healthzBindAddress, healthzPort`. */
  fields: string;
  host: string;
  port: number;
  handler: RequestListener;
  /** Takes WebSockets; without it they are refused. */
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  log: ServerLog;
  restartMs?: number;
}

export interface ListeningServer extends RunningServer {
  /** Settles at the first successful listen, or when it is closed before that. */
  listening: Promise<AddressInfo | undefined>;
}

/**
 * Serves HTTP on an address. Where the port is taken, or the server breaks later, it says so, naming the fields, and
 * tries again every 5 s; the agent goes on without it meanwhile.
 */
export function listen({
  name,
  fields,
  host,
  port,
  handler,
  upgrade,
  log,
  restartMs = RESTART_MS,
}: ListenOptions): ListeningServer {
  const { promise: listening, resolve } = Promise.withResolvers<AddressInfo | undefined>();
  let server: Server | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let told = '';
  const start = () => {
    server = createServer({ keepAliveTimeout: 30_000, requestTimeout: 30_000, headersTimeout: 10_000 }, handler);
    if (upgrade) server.on('upgrade', upgrade);
    server.on('error', (error: NodeJS.ErrnoException) => {
      server?.close();
      if (closed) return;
      const message = `${name} server on ${host}:${port} (${fields}): ${reason(error)}`;
      if (message !== told) log('error', `${message}; trying again every ${restartMs / 1000} s`);
      told = message;
      timer = setTimeout(start, restartMs);
    });
    server.listen(port, host, () => {
      const address = server?.address();
      if (told) log('info', `${name} server on ${host}:${port}: listening now`);
      told = '';
      resolve(typeof address === 'object' && address ? address : undefined);
    });
  };
  start();
  return {
    listening,
    close: () =>
      new Promise((done) => {
        closed = true;
        clearTimeout(timer);
        resolve(undefined);
        server?.closeAllConnections();
        if (server?.listening) server.close(() => done());
        else done();
      }),
  };
}

function reason(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return 'the port is in use';
    case 'EACCES':
      return 'the port may not be opened by this user';
    case 'EADDRNOTAVAIL':
      return 'the address is none of this host';
    default:
      return error.message;
  }
}
