import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from './errors.ts';
import type { Struck } from './faults.ts';

/** Answers with JSON, or with plain text. */
export function send(response: ServerResponse, code: number, body: object | string): void {
  if (response.destroyed) return;
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  const retry =
    typeof body === 'object' && (body as { details?: { retryAfterSeconds?: number } }).details?.retryAfterSeconds;
  response.writeHead(code, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(payload),
    ...(retry && { 'Retry-After': String(retry) }),
  });
  response.end(payload);
}

/** The body of a request, or undefined when the client broke off in the middle of it. */
export function read(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.once('end', () => resolve(Buffer.concat(chunks)));
    for (const broken of ['aborted', 'error', 'close']) message.once(broken, () => resolve(undefined));
  });
}

/** Ends the connection on which the request came, with everything else that is on it. */
export function hangUp(message: IncomingMessage & { stream?: ServerHttp2Stream }): void {
  if (message.stream) message.stream.session?.destroy();
  else message.socket.destroy();
}

/** What faults do before the request is looked at. Throws the status that they answer with. */
export async function before(faults: readonly Struck[], message: IncomingMessage): Promise<'dropped' | undefined> {
  for (const { delayMs, status, drop } of faults) {
    if (delayMs) await sleep(delayMs, undefined, { ref: false });
    if (drop === 'before') {
      hangUp(message);
      return 'dropped';
    }
    if (status) {
      const { code, reason, message: told = `fault: ${reason}`, retryAfterSeconds } = status;
      throw new ApiError(code, reason, told, retryAfterSeconds === undefined ? undefined : { retryAfterSeconds });
    }
  }
  return undefined;
}
