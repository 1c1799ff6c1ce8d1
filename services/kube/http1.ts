import { Agent, request as send } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { authority, type Target } from './dial.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.types.ts';

/** Calls at the same time; more of them wait. Streams have connections of their own. */
const MAX_SOCKETS = 8;

/** Longest silence on a stream, ms: the API server sends a bookmark every minute, and there are no pings. */
const SILENCE_MS = 150_000;

/** For servers that do not speak HTTP/2: a few connections that are kept for calls, and one for each stream. */
export function http1Transport(first: Socket, target: Target, open: () => Promise<Socket>): Transport {
  let [usable, spare]: [boolean, Socket | undefined] = [true, first];
  first.once('close', () => (spare = spare === first ? undefined : spare));
  // While it is in no agent's hands an error is told by its close.
  first.on('error', () => undefined);

  const createConnection = (_options: unknown, done: (error: Error | null, socket: Duplex) => void) => {
    if (spare) {
      const socket = spare;
      spare = undefined;
      return socket;
    }
    open().then(
      (socket) => done(null, socket),
      (error: Error) => {
        // The next one finds out anew what the server speaks.
        usable = false;
        done(error, undefined as unknown as Duplex);
      },
    );
    return undefined;
  };
  const agent = (options: object) => Object.assign(new Agent({ keepAlive: true, ...options }), { createConnection });
  const [calls, streams] = [agent({ maxFreeSockets: MAX_SOCKETS }), agent({})];
  const turn = turns(MAX_SOCKETS);

  return {
    get usable() {
      return usable;
    },
    get over() {
      return !usable && [calls, streams].every(({ sockets }) => Object.keys(sockets).length === 0);
    },
    async send(request) {
      const host = authority(target);
      if (request.streaming) return await exchange(streams, host, request);
      const over = await turn();
      try {
        const response = await exchange(calls, host, request);
        response.body.once('close', over);
        return response;
      } catch (error) {
        over();
        throw error;
      }
    },
    retire() {
      usable = false;
      // Sockets in use are closed when they come back: nothing else asks these agents.
      for (const socket of Object.values(calls.freeSockets).flat()) socket?.destroy();
      calls.maxFreeSockets = 0;
      streams.maxFreeSockets = 0;
      spare?.destroy();
    },
    destroy() {
      usable = false;
      spare?.destroy();
      calls.destroy();
      streams.destroy();
    },
  };
}

/** At most so many at a time, first come first served (an agent does not count sockets that are still being opened). */
function turns(most: number): () => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let free = most;
  const over = () => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return over;
  };
}

function exchange(agent: Agent, host: string, request: HttpRequest): Promise<HttpResponse> {
  const { method, path, headers, body, streaming, signal } = request;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const call = send({ agent, method, path, headers: { host, ...headers, ...length }, signal });
    call.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    call.once('response', (response) => {
      // Who reads it is told by the reading; who has gone is not to be.
      response.on('error', () => undefined);
      if (streaming)
        response.setTimeout(SILENCE_MS, () => response.destroy(new Error(`silent for ${SILENCE_MS / 1000} s`)));
      resolve({
        status: response.statusCode ?? 0,
        retryAfter: response.headers['retry-after'],
        body: response,
        complete: () => response.complete,
      });
    });
    call.end(body);
  });
}
