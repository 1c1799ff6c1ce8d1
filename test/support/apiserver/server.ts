import { createSecureServer } from 'node:http2';
import type { Http2SecureServer } from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from './api.ts';
import { authenticate } from './authenticate.ts';
import { Authority } from './certificates.ts';
import { approve, bootstrap, runControllers } from './controllers.ts';
import { control } from './control.ts';
import { ApiError, badRequest } from './errors.ts';
import type { KeyPair } from './certificates.ts';
import { before, hangUp, read, send } from './exchange.ts';
import { Faults } from './faults.ts';
import type { Asked } from './faults.ts';
import { answerPath, answerVerb, authorize } from './handler.ts';
import { kubeconfig } from './kubeconfig.ts';
import type { KubeObject } from './objects.ts';
import { listAt, textAt } from './objects.ts';
import { resourceNamed } from './resources.ts';
import type { Authenticate } from './reviews.ts';
import { proxyLog, tunnel } from './kubelet-proxy.ts';
import { route } from './route.ts';
import { bind, signApproved } from './subresources.ts';
import type { Parts } from './subresources.ts';
import { Tokens } from './tokens.ts';
import type { User } from './users.ts';
import { streamWatch } from './watch-response.ts';

export interface ApiServerOptions {
  /** Holds the authority, certificates and kubeconfigs; what is there is taken. */
  directory: string;
  host?: string;
  /** 0 (the default) takes a free one. */
  port?: number;
  /** Static bearer tokens. */
  tokens?: Readonly<Record<string, User>>;
  /** Time between bookmarks, ms. */
  bookmarkMs?: number;
  /** Kubelets' certificate requests are approved as they come. */
  approveNodes?: boolean;
  /** Pods without a node are bound to one that is ready. */
  schedule?: boolean;
}

/** One request that was answered. */
export interface Served extends Asked {
  code: number;
  at: number;
}

const JOURNAL = 10_000;

/** An API server with its store in memory, over HTTPS. Faults: `faults`, `cutWatches`, `outage`, `compact`. */
export class ApiServer {
  readonly api: Api;
  readonly faults = new Faults();
  /** The newest requests that were answered, oldest first. */
  readonly journal: Served[] = [];
  readonly directory: string;
  readonly #options: ApiServerOptions;
  readonly #parts: Parts;
  #server: Http2SecureServer | undefined;
  readonly #sockets = new Set<Socket>();
  #port: number;
  #stopControllers: () => void = () => undefined;
  readonly #watches = new Map<() => void, Asked>();
  #kubeletClient: Promise<KeyPair> | undefined;
  #pem = { cert: '', key: '' };

  private constructor(options: ApiServerOptions, authority: Authority) {
    this.#options = options;
    this.directory = options.directory;
    this.#port = options.port ?? 0;
    const now = () => Date.now() + this.faults.skewMs;
    this.api = new Api(now);
    this.#parts = { api: this.api, authority, tokens: new Tokens(this.api.store, now) };
  }

  static async start(options: ApiServerOptions): Promise<ApiServer> {
    await mkdir(options.directory, { recursive: true });
    const authority = await Authority.open(options.directory);
    const server = new ApiServer(options, authority);
    const pair = await authority.server('apiserver', [
      ...new Set([options.host ?? '127.0.0.1', '127.0.0.1', 'localhost', 'kubernetes.default.svc']),
    ]);
    server.#pem = { cert: pair.certificate, key: pair.key };
    await server.up();
    server.#stopControllers = runControllers(server.api, authority.certificate, {
      schedule: options.schedule ?? false,
    });
    server.api.store.watch(
      'certificates.k8s.io/',
      0,
      ({ object, type }) => type !== 'DELETED' && server.#onRequest(object),
    );
    bootstrap(server.api);
    return server;
  }

  get url(): string {
    return `https://${this.#options.host ?? '127.0.0.1'}:${this.#port}`;
  }

  /** Writes `<name>.kubeconfig` for a new client certificate and answers its path. */
  async user(name: string, username: string, groups: readonly string[]): Promise<string> {
    const { authority } = this.#parts;
    const path = join(this.directory, `${name}.kubeconfig`);
    const credentials = await authority.client(name, username, groups);
    await writeFile(path, kubeconfig(this.url, authority.certificate, name, credentials), { mode: 0o600 });
    return path;
  }

  /** A kubeconfig that may do everything. */
  admin(): Promise<string> {
    return this.user('admin', 'kubernetes-admin', ['system:masters']);
  }

  /** A kubelet's kubeconfig. */
  node(name: string): Promise<string> {
    return this.user(name, `system:node:${name}`, ['system:nodes']);
  }

  /** Binds a pod to a node, as a scheduler does. */
  bind(namespace: string, name: string, node: string): void {
    bind(
      this.api,
      { resource: resourceNamed('pods'), namespace, name, subresource: 'binding' },
      { target: { name: node } },
    );
  }

  /** Ends every watch that is open, as a server that rolls or a proxy in between does, and answers whose they were. */
  cutWatches(): Asked[] {
    const open = [...this.#watches];
    for (const [cut] of open) cut();
    return open.map(([, asked]) => asked);
  }

  /** Watches that begin before now get 410. */
  compact(): void {
    this.api.store.compact();
  }

  /** Connections are refused until `up`. What is stored stays. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async up(): Promise<void> {
    if (this.#server) return;
    const tls = { ...this.#pem, ca: this.#parts.authority.certificate, requestCert: true, rejectUnauthorized: false };
    // HTTP/2 as the real one, HTTP/1.1 for who does not offer it; requests of both have the same interface.
    const server = createSecureServer({ ...tls, allowHTTP1: true }, (message, response) => {
      void this.#serve(message as unknown as IncomingMessage, response as unknown as ServerResponse);
    });
    server.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#tunnel(message, socket, head).catch((error: unknown) => {
        socket.end(`HTTP/1.1 ${error instanceof ApiError ? error.status.code : 502} Failed\r\n\r\n${String(error)}`);
      });
    });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('secureConnection', (socket: Socket) => socket.on('error', () => socket.destroy()));
    // A client that breaks off is no error of the server.
    server.on('sessionError', (_error, session) => session.destroy());
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, this.#options.host ?? '127.0.0.1', () => resolve());
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Away for so long. */
  async outage(ms: number): Promise<void> {
    await this.down();
    await sleep(ms);
    await this.up();
  }

  async close(): Promise<void> {
    this.#stopControllers();
    await this.down();
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await read(message);
    // A client that broke off in the middle of its request is owed no answer.
    if (!body) return;
    const asked: Asked = { verb: '', resource: '', username: '', path: message.url ?? '' };
    try {
      await this.#answer(message, response, body, asked);
    } catch (error) {
      const failure =
        error instanceof ApiError
          ? error
          : new ApiError(500, 'InternalError', `Internal error occurred: ${String(error)}`);
      if (!(error instanceof ApiError)) console.error(error);
      send(response, failure.status.code, failure.status);
    }
    this.journal.push({ ...asked, code: response.statusCode, at: Date.now() });
    if (this.journal.length > JOURNAL) this.journal.shift();
  }

  async #answer(message: IncomingMessage, response: ServerResponse, body: Buffer, asked: Asked): Promise<void> {
    const user = authenticate(message, this.#bearer);
    const url = new URL(message.url ?? '/', this.url);
    Object.assign(asked, { username: user.username, verb: 'get', path: url.pathname });
    if (url.pathname.startsWith('/control/'))
      return send(response, 200, control(this, user, url.pathname, body.toString()));
    const where = route(message.method ?? '', url);
    if (!where) return send(response, 200, answerPath(url.pathname, user, this.#parts));
    const { plural } = where.target.resource;
    Object.assign(asked, {
      verb: where.verb,
      resource: where.target.subresource ? `${plural}/${where.target.subresource}` : plural,
    });
    const faults = this.faults.strike(asked);
    if ((await before(faults, message)) === 'dropped') return;
    const request = { ...where, message, response, user, body };
    authorize(request, this.#parts);
    if (where.verb === 'watch') return this.#watch(request, asked);
    if (where.target.subresource === 'log') return proxyLog(request, this.api, await this.#kubeletKeys());
    const { code, body: answer } = answerVerb(request, this.#parts, this.#bearer);
    if (faults.some((fault) => fault.drop === 'after')) hangUp(message);
    else send(response, code, answer);
  }

  /** exec, attach and port-forward: the connection is handed on to the kubelet. */
  async #tunnel(message: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const user = authenticate(message, this.#bearer);
    const where = route(message.method ?? '', new URL(message.url ?? '/', this.url));
    if (!where) throw badRequest('nothing to upgrade to');
    authorize({ ...where, user }, this.#parts);
    tunnel(where, message, socket, head, this.api, await this.#kubeletKeys());
  }

  /** The certificate that kubelets see, made when the first of them is asked. */
  #kubeletKeys(): Promise<KeyPair> {
    this.#kubeletClient ??= this.#parts.authority.client('kubelet-client', 'kube-apiserver-kubelet-client', [
      'system:masters',
    ]);
    return this.#kubeletClient;
  }

  #watch(request: Parameters<typeof streamWatch>[0], asked: Asked): void {
    const cut = streamWatch(request, this.#parts, this.#options.bookmarkMs ?? 60_000);
    this.#watches.set(cut, asked);
    request.response.on('close', () => this.#watches.delete(cut));
  }

  readonly #bearer: Authenticate = (token, audiences) => {
    const known = this.#options.tokens?.[token];
    if (known) return { ...known, groups: [...new Set([...known.groups, 'system:authenticated'])] };
    return this.#parts.tokens.user(token, audiences);
  };

  #onRequest(csr: KubeObject): void {
    setImmediate(() => {
      const decided = listAt(csr, 'status.conditions');
      if (decided.some((c) => c['type'] === 'Approved') && !textAt(csr, 'status.certificate'))
        void signApproved(this.#parts, csr).catch((error: unknown) => console.error(error));
      else if (!decided.length && this.#options.approveNodes && textAt(csr, 'spec.signerName').includes('kubelet'))
        approve(this.api, csr);
    });
  }
}
