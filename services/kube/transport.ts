import type { Readable } from 'node:stream';
import type { ClientCredentials } from './credentials.ts';
import { dial, type Target } from './dial.ts';
import { http1Transport } from './http1.ts';
import { http2Transport } from './http2.ts';

/** One HTTP request as both protocols take it. */
export interface HttpRequest {
  method: string;
  /** With its query, as it goes on the wire. */
  path: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body?: string;
  /** Open for long: it must not take the place of calls. */
  streaming: boolean;
  /** Ends the request wherever it is; what it rejects with is the signal's reason. */
  signal: AbortSignal;
}

export interface HttpResponse {
  status: number;
  retryAfter?: string;
  /** Fails when the signal fires. Has to be read or destroyed. */
  body: Readable;
  /** Asked at its end: whether the server ended it. A lost connection may look like an end. */
  complete(): boolean;
}

/** Connections to one server in one protocol. */
export interface Transport {
  /** False once new requests need another: the connection was lost or is about to be closed, or its credentials are old. */
  readonly usable: boolean;
  /** Nothing is under way on it any more, and nothing will be. */
  readonly over: boolean;
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Takes no new request; those that are under way go on. */
  retire(): void;
  /** Cuts all that is under way. */
  destroy(): void;
}

/** Longest time for name, connection and handshakes together, ms. */
const DIAL_MS = 10_000;

/** The pool of connections to the API server: HTTP/2 where the server speaks it (one connection for all), else HTTP/1.1. */
export interface Pool {
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): void;
}

/**
 * Opens no connection yet: the first request does, and again the next one after it was lost. New certificates replace the
 * connection for new requests.
 */
export function openPool(target: Target, credentials: ClientCredentials): Pool {
  const all = new Set<Transport>();
  let current: Held | undefined;
  let closed = false;

  const open = async (protocols: string[]) =>
    dial(target, await credentials.tls(), protocols, AbortSignal.timeout(DIAL_MS));

  const begin = async (): Promise<Transport> => {
    const socket = await open(target.secure ? ['h2', 'http/1.1'] : []);
    const h2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
    const transport = h2
      ? await http2Transport(socket, target)
      : http1Transport(socket, target, () => open(['http/1.1']));
    all.add(transport);
    if (closed) transport.destroy();
    return transport;
  };

  const hold = (version: number): Held => {
    const held: Held = { version, transport: begin() };
    held.transport.then(
      (transport) => (held.opened = transport),
      () => (current = current === held ? undefined : current),
    );
    return held;
  };

  return {
    async send(request) {
      const { version } = await credentials.tls();
      if (current && (current.version !== version || current.opened?.usable === false)) {
        void current.transport.then((old) => old.retire());
        current = undefined;
      }
      for (const old of all) if (old.over) all.delete(old);
      current ??= hold(version);
      const transport = await current.transport;
      return await transport.send(request);
    },
    close() {
      closed = true;
      for (const transport of all) transport.destroy();
    },
  };
}

interface Held {
  /** Of the certificates that it was opened with. */
  version: number;
  transport: Promise<Transport>;
  opened?: Transport;
}
