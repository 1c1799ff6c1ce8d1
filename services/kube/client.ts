import { AgentError } from '../../machines/agent-error.types.ts';
import { clientCredentials } from './credentials.ts';
import { apiError, unavailable, type ApiStatus } from './errors.ts';
import type { KubeConfig } from './kube-config.types.ts';
import { lineSplitter } from './lines.ts';
import { rateLimit } from './rate-limit.ts';
import { beginSpan } from './span.ts';
import { openPool } from './pool.ts';
import type { HttpResponse } from './transport.types.ts';

type Query = Record<string, string | number | boolean | undefined>;

export interface RequestOptions {
  /** What errors call it: `patch pod status`; else its method and path. */
  op?: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Query;
  /** Goes as JSON. */
  body?: object;
  /** `application/json` if not given. */
  contentType?: string;
  /** Cuts a GET; a write goes on to its answer or deadline once its turn has come (docs/adr/0005). */
  signal?: AbortSignal;
  /** Longest time from its turn to the whole answer, ms; 30 s, or that of heartbeats, if not given. */
  deadlineMs?: number;
  /** Which rate limit it waits for; `api` if not given. Heartbeats (node, lease) wait for none (kubelet: heartbeat client). */
  turns?: Turns;
}

type Turns = 'api' | 'events' | 'heartbeats';

export interface WatchEvent<T = unknown> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: T;
}

export interface WatchOptions<T> {
  op?: string;
  path: string;
  /** With `timeoutSeconds`; `watch` itself is added. */
  query: Query & { timeoutSeconds: number };
  signal: AbortSignal;
  /** Must not throw. */
  onEvent: (event: WatchEvent<T>) => void;
}

/** An API server. Connected by the first call, and again by the next one after the connection was lost. Never retries. */
export interface Kube {
  /**
   * One call, its answer parsed from JSON.
   *
   * @throws AgentError with Kubernetes' own reason (services/kube/errors.ts), or UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED
   */
  request<T>(options: RequestOptions): Promise<T>;
  /** Tells what happens until the server ends it, which resolves. @throws as `request`; `Expired` where a list is needed */
  watch<T>(options: WatchOptions<T>): Promise<void>;
  /** Resolves when no write is under way. */
  settled(): Promise<void>;
  /** Cuts all that is under way; nothing can be asked any more. */
  close(): void;
}

export interface KubeOptions {
  /** kubeAPIQPS, kubeAPIBurst. */
  qps: number;
  burst: number;
  /** eventRecordQPS, eventBurst: events have turns of their own, so that they hold up nothing. */
  events: { qps: number; burst: number };
  /** Longest time for a heartbeat, ms: one that hangs must not keep the next from being sent; 10 s if not given. */
  heartbeatMs?: number;
  userAgent: string;
}

const DEADLINE_MS = 30_000;
const HEARTBEAT_MS = 10_000;
/** A server that has not ended a watch so long after it should have is no longer there, ms. */
const OVERDUE_MS = 30_000;

/** @throws AgentError `InvalidKubeconfig` where the server's address cannot be used. Opens no connection. */
export function connectKube(config: KubeConfig, options: KubeOptions): Kube {
  const server = new URL(config.server);
  const secure = server.protocol === 'https:';
  const prefix = server.pathname.replace(/\/$/, '');
  const credentials = clientCredentials(config);
  const closing = new AbortController();
  const writes = new Set<Promise<unknown>>();
  const limits = {
    api: rateLimit(options),
    events: rateLimit(options.events),
    heartbeats: rateLimit({ qps: -1, burst: 0 }),
  };
  const { heartbeatMs = HEARTBEAT_MS } = options;
  const pool = openPool(
    {
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: Number(server.port) || (secure ? 443 : 80),
      secure,
      serverName: config.tlsServerName,
      insecureSkipTlsVerify: config.insecureSkipTlsVerify,
      proxy: config.proxyUrl ? new URL(config.proxyUrl) : undefined,
    },
    credentials,
  );

  const send = async (op: string, call: Call, signal: AbortSignal): Promise<HttpResponse> => {
    const authorization = await credentials.authorization();
    const response = await pool.send({
      method: call.method,
      path: `${prefix}${call.path}${queryOf(call.query)}`,
      headers: {
        accept: 'application/json',
        'user-agent': options.userAgent,
        ...(authorization ? { authorization } : {}),
        ...(call.body ? { 'content-type': call.contentType ?? 'application/json' } : {}),
      },
      body: call.body && JSON.stringify(call.body),
      streaming: call.streaming,
      signal,
    });
    if (response.status < 400) return response;
    if (response.status === 401) credentials.refused();
    throw apiError(op, response.status, await textOf(response), response.retryAfter);
  };

  const request = async <T>(call: RequestOptions): Promise<T> => {
    const { op = `${call.method} ${call.path}`, turns = 'api' } = call;
    const { deadlineMs = turns === 'heartbeats' ? heartbeatMs : DEADLINE_MS } = call;
    const span = beginSpan(op, [closing.signal, call.signal]);
    try {
      await limits[turns].take(op, span.signal);
      if (call.method !== 'GET') span.ignore(call.signal);
      span.limit(deadlineMs, server.host);
      const work = send(op, { ...call, streaming: false }, span.signal).then(textOf);
      return parse<T>(op, await Promise.race([work, span.cut]));
    } catch (error) {
      throw span.signal.aborted ? span.signal.reason : unavailable(op, server.host, error);
    } finally {
      span.end();
    }
  };

  return {
    request<T>(call: RequestOptions) {
      const answer = request<T>(call);
      if (call.method === 'GET') return answer;
      const over: Promise<unknown> = answer.catch(() => undefined).finally(() => writes.delete(over));
      writes.add(over);
      return answer;
    },

    async watch<T>({ path, op = `watch ${path}`, query, signal, onEvent }: WatchOptions<T>) {
      const span = beginSpan(op, [closing.signal, signal]);
      try {
        span.limit(DEADLINE_MS, server.host);
        const call = { method: 'GET', path, query: { ...query, watch: true }, streaming: true } as const;
        const response = await Promise.race([send(op, call, span.signal), span.cut]);
        span.limit(query.timeoutSeconds * 1000 + OVERDUE_MS, server.host);
        const split = lineSplitter();
        response.body.setEncoding('utf8');
        for await (const piece of response.body as AsyncIterable<string>)
          for (const line of split(piece)) onEvent(eventOf<T>(op, line));
        ensureComplete(response);
      } catch (error) {
        throw span.signal.aborted ? span.signal.reason : unavailable(op, server.host, error);
      } finally {
        span.end();
      }
    },

    async settled() {
      while (writes.size > 0) await Promise.all(writes);
    },

    close() {
      closing.abort();
      pool.close();
    },
  };
}

type Call = Pick<RequestOptions, 'method' | 'path' | 'query' | 'body' | 'contentType'> & { streaming: boolean };

function queryOf(query: Query = {}): string {
  const set = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) set.set(name, String(value));
  return set.size ? `?${set.toString()}` : '';
}

async function textOf(response: HttpResponse): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of response.body as AsyncIterable<Buffer>) pieces.push(piece);
  ensureComplete(response);
  return Buffer.concat(pieces).toString('utf8');
}

function ensureComplete(response: HttpResponse): void {
  if (!response.complete()) throw new Error('the connection was closed within the answer');
}

function parse<T>(op: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    // Not the parser's words: they quote the answer.
    const message = `${op}: the API server's answer is not JSON`;
    throw new AgentError({ op, reason: 'InvalidResponse', message, transient: true });
  }
}

function eventOf<T>(op: string, line: string): WatchEvent<T> {
  const event = parse<WatchEvent<T> | { type: 'ERROR'; object: ApiStatus }>(op, line);
  if (event.type === 'ERROR') throw apiError(op, event.object.code ?? 500, event.object);
  return event;
}
