import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { authority, type Target } from './dial.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.types.ts';

/** A connection with open streams is asked for a sign of life so often, and given so long for it (client-go's numbers), ms. */
const PINGS = { everyMs: 30_000, timeoutMs: 15_000 };

/** What the server may send before it has to wait for this side: a list of some hundred pods. */
const WINDOW_BYTES = 4 * 1024 * 1024;

/**
 * All requests on one connection; it is there as soon as the server has said how many at once. A server that no longer
 * answers pings has lost it: everything on it fails.
 */
export async function http2Transport(socket: Socket, target: Target, pings = PINGS): Promise<Transport> {
  const session = connect(`https://${authority(target)}`, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
    maxSessionMemory: 64,
  });
  let usable = true;
  const end = () => (usable = false);
  session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
  session.on('goaway', end);
  session.on('close', end);
  // Its streams are told of the error, each on its own.
  session.on('error', end);
  keepAlive(session, pings);
  await new Promise<void>((resolve, reject) => {
    session.once('remoteSettings', () => resolve());
    session.once('error', reject);
    session.once('close', () => reject(new Error('the connection was closed before it was set up')));
  });
  return {
    get usable() {
      return usable && !session.closed && !session.destroyed;
    },
    get over() {
      return session.destroyed;
    },
    send: (request) => exchange(session, request),
    retire() {
      end();
      if (!session.destroyed) session.close();
    },
    destroy() {
      end();
      session.destroy();
    },
  };
}

function keepAlive(session: ClientHttp2Session, { everyMs, timeoutMs }: typeof PINGS): void {
  let timeout: NodeJS.Timeout | undefined;
  const every = setInterval(() => {
    if (session.destroyed) return;
    timeout ??= setTimeout(() => session.destroy(new Error('no answer to a ping')), timeoutMs).unref();
    session.ping((error: Error | null) => {
      if (error) return;
      clearTimeout(timeout);
      timeout = undefined;
    });
  }, everyMs).unref();
  session.once('close', () => {
    clearInterval(every);
    clearTimeout(timeout);
  });
}

function exchange(session: ClientHttp2Session, request: HttpRequest): Promise<HttpResponse> {
  const { method, path, headers, body, signal } = request;
  return new Promise((resolve, reject) => {
    const stream: ClientHttp2Stream = session.request(
      { ...headers, [constants.HTTP2_HEADER_METHOD]: method, [constants.HTTP2_HEADER_PATH]: path },
      { endStream: body === undefined },
    );
    const abort = () => stream.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    stream.on('error', reject);
    stream.once('close', () => {
      signal.removeEventListener('abort', abort);
      // After an answer this changes nothing.
      reject(new Error('the connection was closed before the answer'));
    });
    stream.once('response', ({ ':status': status = 0, 'retry-after': retryAfter }) =>
      resolve({ status, retryAfter, body: stream, complete: () => stream.rstCode === constants.NGHTTP2_NO_ERROR }),
    );
    if (body !== undefined) stream.end(body);
    if (signal.aborted) abort();
  });
}
