import { request } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';

/** Where the API server is and how it is reached. */
export interface Target {
  host: string;
  port: number;
  /** https; else plain http, as behind `kubectl proxy`. */
  secure: boolean;
  /** Name on the server's certificate, where it is not that of the address (tls-server-name). */
  serverName?: string;
  insecureSkipTlsVerify: boolean;
  /** http proxy, reached by CONNECT. */
  proxy?: URL;
}

/** `host:port` as HTTP writes it. */
export function authority({ host, port }: Pick<Target, 'host' | 'port'>): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** After so long without a word the kernel asks whether the other side is there (Go's dialer), ms. */
const KEEP_ALIVE_MS = 30_000;

/**
 * A connection that is ready for HTTP, through the proxy where there is one, after its TLS handshake.
 *
 * @param protocols for ALPN, best first; not used on plain connections
 * @param signal ends the attempt; a connection that was made lives on
 */
export async function dial(
  target: Target,
  tls: { context?: SecureContext },
  protocols: string[],
  signal: AbortSignal,
): Promise<Socket> {
  const raw = await (target.proxy ? throughProxy(target, target.proxy, signal) : tcp(target.host, target.port, signal));
  raw.setNoDelay(true);
  raw.setKeepAlive(true, KEEP_ALIVE_MS);
  if (!target.secure) return raw;
  const { host, serverName = isIP(host) ? '' : host } = target;
  const socket = connectTls({
    socket: raw,
    // What the certificate is checked against where no name is sent.
    host: target.serverName ?? host,
    servername: serverName,
    ALPNProtocols: protocols,
    secureContext: tls.context,
    rejectUnauthorized: !target.insecureSkipTlsVerify,
  });
  return await settled(socket, 'secureConnect', signal);
}

function tcp(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return settled(connectTcp({ host, port, autoSelectFamily: true }), 'connect', signal);
}

/** The socket once it has told of `event`; destroyed where it fails first or is given up. */
function settled<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const over = () => {
      signal.removeEventListener('abort', giveUp);
      socket.off('error', fail).off('close', close);
    };
    const fail = (error: unknown) => {
      over();
      // Whoever waits is told; nobody is there for what may come after it.
      socket.on('error', () => undefined);
      socket.destroy();
      reject(error);
    };
    const close = () => fail(new Error('the connection was closed during the handshake'));
    const giveUp = () => fail(new Error('no connection in time'));
    socket.once('error', fail).once('close', close);
    socket.once(event, () => {
      over();
      resolve(socket);
    });
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

function throughProxy(target: Target, proxy: URL, signal: AbortSignal): Promise<Socket> {
  const path = authority(target);
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const call = request({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || 80,
      method: 'CONNECT',
      path,
      headers: {
        host: path,
        ...(user === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
      },
      agent: false,
      signal,
    });
    call.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      reject(new Error(`the proxy at ${proxy.host} answered ${response.statusCode} to CONNECT`));
    });
    call.once('error', (error) => reject(new Error(`the proxy at ${proxy.host}: ${error.message}`, { cause: error })));
    call.end();
  });
}
