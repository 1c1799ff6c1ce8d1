import { connect as connectHttp2 } from 'node:http2';
import type { IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import { connect } from 'node:net';
import { status } from '@grpc/grpc-js';
import { address } from './target.ts';
import { USER_AGENT } from './user-agent.ts';

/** Bytes of an answer that are read; a health check's has two. */
const MAX_ANSWER = 10 * 1024;
/** A flag and the length before each message. */
const PREFIX = 5;
/** What gRPC makes of HTTP statuses without one of its own (doc/http-grpc-status-mapping.md). */
const BY_HTTP_STATUS: Readonly<Record<number, status>> = {
  400: status.INTERNAL,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.UNIMPLEMENTED,
  429: status.UNAVAILABLE,
  502: status.UNAVAILABLE,
  503: status.UNAVAILABLE,
  504: status.UNAVAILABLE,
};

export type GrpcCall =
  | { kind: 'answered'; code: status; details: string; message: Buffer }
  /** `error` is absent where the time was over; `connected`: the server had begun to speak HTTP/2. */
  | { kind: 'failed'; connected: boolean; error?: Error };

/**
 * One unary gRPC call without TLS, on a connection of its own that is gone when the call is over. (grpc-js keeps the socket
 * to a server that accepts and stays silent, even when its channel is closed: one more for every probe.)
 *
 * @param time when it is aborted, the call fails
 */
export function callOnce(
  { host, port, path, timeoutMs }: { host: string; port: number; path: string; timeoutMs: number },
  message: Uint8Array,
  time: AbortSignal,
): Promise<GrpcCall> {
  return new Promise((resolve) => {
    let connected = false;
    const socket = connect({ host, port });
    const session = connectHttp2(`http://${address(host, port)}`, { createConnection: () => socket });
    const done = (call: GrpcCall) => {
      time.removeEventListener('abort', late);
      session.destroy();
      socket.destroy();
      resolve(call);
    };
    const fail = (error?: Error) => done({ kind: 'failed', connected, error });
    const late = () => fail();
    time.addEventListener('abort', late, { once: true });
    socket.on('error', fail);
    session.on('error', fail).once('remoteSettings', () => (connected = true));

    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      te: 'trailers',
      'content-type': 'application/grpc',
      'user-agent': USER_AGENT,
      'grpc-timeout': `${Math.min(Math.ceil(timeoutMs), 99_999_999)}m`,
    });
    const headers: IncomingHttpHeaders & IncomingHttpStatusHeader = {};
    const chunks: Buffer[] = [];
    let length = 0;
    stream.on('response', (received) => Object.assign(headers, received));
    stream.on('trailers', (received) => Object.assign(headers, received));
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_ANSWER) fail(new Error('the answer is too long'));
    });
    stream.on('error', fail);
    stream.once('close', () => {
      if (headers[':status'] === undefined) fail(new Error('EOF'));
      else done({ kind: 'answered', ...statusOf(headers), message: Buffer.concat(chunks).subarray(PREFIX) });
    });
    stream.end(framed(message));
    if (time.aborted) late();
  });
}

function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function statusOf(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): { code: status; details: string } {
  const { ':status': http = 0, 'grpc-status': code, 'grpc-message': details = '' } = headers;
  if (code !== undefined) return { code: Number(code), details: decoded(String(details)) };
  if (http === 200) return { code: status.INTERNAL, details: 'server closed the stream without sending trailers' };
  const told = `unexpected HTTP status code received from server: ${http}`;
  return { code: BY_HTTP_STATUS[http] ?? status.UNKNOWN, details: told };
}

/** grpc-message is percent-encoded; one that is not stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
