import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';

/** Keys and certificates of a test, made by openssl: a CA, the server's for 127.0.0.1 and `apiserver.test`, clients'. */
export interface Pki {
  folder: string;
  file(name: string): string;
  text(name: string): string;
  /** `<name>.crt` and `<name>.key` for a client of this common name. */
  client(name: string, commonName: string): void;
  remove(): void;
}

export function makePki(): Pki {
  const folder = mkdtempSync(join(tmpdir(), 'kube-'));
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const issue = (name: string, commonName: string, ...more: string[]) =>
    openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
      '-keyout', file(`${name}.key`), '-out', file(`${name}.crt`), '-subj', `/CN=${commonName}`, ...more); // prettier-ignore
  const signed = ['-CA', file('ca.crt'), '-CAkey', file('ca.key')];
  issue('ca', 'test-ca');
  issue('server', 'server', ...signed, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:apiserver.test');
  return {
    folder,
    file,
    text: (name) => readFileSync(file(name), 'utf8'),
    client: (name, commonName) => void issue(name, commonName, ...signed),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What a server of HTTP/2 takes at once. */
export const MAX_STREAMS = 20;

export interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Common name of the client's certificate. */
  commonName?: string;
  httpVersion: string;
}

export interface TestServer {
  url: string;
  port: number;
  seen: Seen[];
  /** Open connections. */
  sockets: Set<Socket>;
  connections: number;
  close(): Promise<void>;
}

type Handler = (seen: Seen, response: ServerResponse) => void;

/** A server that records what it is asked; the handler answers. */
export async function serve(
  protocol: 'h2' | 'https' | 'http',
  pki: Pki,
  handler: Handler,
  port = 0,
): Promise<TestServer> {
  const seen: Seen[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      const socket = ((request as { stream?: { session?: { socket: TLSSocket } } }).stream?.session?.socket ??
        request.socket) as TLSSocket;
      const commonName =
        protocol === 'http' ? undefined : (socket.getPeerCertificate().subject?.CN as string | undefined);
      const { method = '', url: path = '', headers, httpVersion } = request;
      const entry = { method, path, headers, body, commonName, httpVersion };
      seen.push(entry);
      handler(entry, response);
    });
  };
  const tls = { key: pki.text('server.key'), cert: pki.text('server.crt'), ca: pki.text('ca.crt'), requestCert: true, rejectUnauthorized: false }; // prettier-ignore
  const server = (
    protocol === 'http' ? createHttp(listener)
    : protocol === 'https' ? createHttps(tls, listener)
    : createSecureServer({ ...tls, settings: { maxConcurrentStreams: MAX_STREAMS } }, listener as never)
  ) as Server; // prettier-ignore
  const sockets = new Set<Socket>();
  const result = { url: '', port: 0, seen, sockets, connections: 0, close };
  server.on('connection', (socket: Socket) => {
    result.connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  server.on('sessionError', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  result.port = (server.address() as AddressInfo).port;
  result.url = `${protocol === 'http' ? 'http' : 'https'}://127.0.0.1:${result.port}`;
  function close() {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  }
  return result;
}

/** Answers with JSON. */
export function json(response: ServerResponse, body: object, code = 200): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
