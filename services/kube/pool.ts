import type { ClientCredentials } from './credentials.ts';
import { dial, type Target } from './dial.ts';
import { http1Transport } from './http1.ts';
import { http2Transport } from './http2.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.types.ts';

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
