import { Client, Metadata, credentials } from '@grpc/grpc-js';
import type { ClientOptions, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { AgentError } from '../../machines/agent-error.types.ts';
import { abortedError, criError } from './errors.ts';
import { EventsService } from './proto/generated/containerd-events.ts';
import { ImageServiceService, RuntimeServiceService } from './proto/generated/cri.ts';

/** The unary calls of CRI and its server streams, by their names in the generated code. */
const METHODS = { ...RuntimeServiceService, ...ImageServiceService, ...EventsService };
type Methods = typeof METHODS;
type Streaming = {
  [M in keyof Methods]: Methods[M]['responseStream'] extends true ? M : never;
}[keyof Methods];
type Unary = Exclude<keyof Methods, Streaming>;
type RequestOf<M extends keyof Methods> = Parameters<Methods[M]['requestSerialize']>[0];
type ResponseOf<M extends keyof Methods> = ReturnType<Methods[M]['responseDeserialize']>;

/** Calls that change pods and containers: never cut once they are on their way (docs/adr/0005). */
const MUTATING: ReadonlySet<string> = new Set<Unary>([
  'runPodSandbox',
  'stopPodSandbox',
  'removePodSandbox',
  'createContainer',
  'startContainer',
  'stopContainer',
  'removeContainer',
  'updateContainerResources',
  'reopenContainerLog',
]);

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const RECONNECT_BASE_MS = 100;
const RECONNECT_MAX_MS = 3_000;

export interface CriOptions {
  /** `unix:///run/containerd/containerd.sock` */
  runtimeEndpoint: string;
  /** Where images are served, if not by the runtime. */
  imageEndpoint?: string;
  /** runtimeRequestTimeout, ms. */
  runtimeRequestTimeoutMs: number;
}

export interface CallOptions {
  /** Longest time that the call may take, ms. */
  deadlineMs: number;
  /** Cuts a read; a mutating call goes on to its answer or deadline once it has begun. */
  signal?: AbortSignal;
}

/** A connection to a CRI runtime. It is made by the first call and again, with back-off, after it was lost. */
export interface Cri {
  /** runtimeRequestTimeout, ms: what the verbs make their deadlines from. */
  readonly runtimeRequestTimeoutMs: number;
  /** Path of the runtime's socket, for errors. */
  readonly socket: string;
  /** @throws AgentError (services/cri/errors.ts) */
  call<M extends Unary>(method: M, request: RequestOf<M>, options: CallOptions): Promise<ResponseOf<M>>;
  /** Opens a server stream; it has no deadline and ends by `cancel()`, an error event or the runtime. */
  stream<M extends Streaming>(method: M, request: RequestOf<M>): ClientReadableStream<ResponseOf<M>>;
  /** Resolves when no mutating call is in flight. */
  settled(): Promise<void>;
  close(): void;
}

const CLIENT_OPTIONS: ClientOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.initial_reconnect_backoff_ms': RECONNECT_BASE_MS,
  'grpc.max_reconnect_backoff_ms': RECONNECT_MAX_MS,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_retries': 0,
  'grpc.enable_channelz': 0,
};

/**
 * Opens clients for the runtime and, where that has an endpoint of its own, the image service. Touches no socket yet.
 * Numbers are the kubelet's (test/facts/constants.tsv, area runtime).
 *
 * @throws AgentError `InvalidEndpoint` for an endpoint that is not a unix socket
 */
export function connectCri(options: CriOptions): Cri {
  const runtime = openClient(options.runtimeEndpoint, 'containerRuntimeEndpoint');
  const separate = options.imageEndpoint && options.imageEndpoint !== options.runtimeEndpoint;
  const image = separate ? openClient(options.imageEndpoint ?? '', 'imageServiceEndpoint') : runtime;
  const inFlight = new Set<Promise<unknown>>();
  const clientOf = (method: keyof Methods) => (method in ImageServiceService ? image : runtime);

  return {
    runtimeRequestTimeoutMs: options.runtimeRequestTimeoutMs,
    socket: runtime.socket,
    call(method, request, { deadlineMs, signal }) {
      const op = opOf(method);
      if (signal?.aborted) return Promise.reject(abortedError(op));
      if (!MUTATING.has(method)) return unary(clientOf(method), method, request, deadlineMs, signal);
      const call = unary(clientOf(method), method, request, deadlineMs, undefined);
      const over: Promise<unknown> = call.catch(() => undefined).finally(() => inFlight.delete(over));
      inFlight.add(over);
      return call;
    },
    stream(method, request) {
      const { path, requestSerialize, responseDeserialize } = definition(method);
      return clientOf(method).client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
    },
    async settled() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    close() {
      runtime.client.close();
      if (image !== runtime) image.client.close();
    },
  };
}

/** The call in CRI's spelling: `createContainer` → `CreateContainer`. */
function opOf(method: keyof Methods): string {
  return METHODS[method].path.slice(METHODS[method].path.lastIndexOf('/') + 1);
}

/** A method's path and codecs with request and response bound to each other. */
function definition<M extends keyof Methods>(method: M) {
  return METHODS[method] as unknown as {
    path: string;
    requestSerialize: (value: RequestOf<M>) => Buffer;
    responseDeserialize: (value: Buffer) => ResponseOf<M>;
  };
}

function unary<M extends Unary>(
  { client, socket }: Connection,
  method: M,
  request: RequestOf<M>,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<ResponseOf<M>> {
  const { path, requestSerialize, responseDeserialize } = definition(method);
  return new Promise((resolve, reject) => {
    const done = (error: ServiceError | null, response: ResponseOf<M> | undefined) => {
      signal?.removeEventListener('abort', cut);
      if (error) reject(signal?.aborted ? abortedError(opOf(method)) : criError(error, opOf(method), socket));
      else resolve(response as ResponseOf<M>);
    };
    const deadline = Date.now() + deadlineMs;
    const call = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      new Metadata(),
      { deadline },
      done,
    );
    const cut = () => call.cancel();
    signal?.addEventListener('abort', cut, { once: true });
  });
}

interface Connection {
  client: Client;
  /** Its path. */
  socket: string;
}

function openClient(endpoint: string, field: string): Connection {
  const path = /^unix:\/\/(\/.*)$/.exec(endpoint)?.[1];
  if (path === undefined) {
    throw new AgentError({
      op: 'connectCri',
      reason: 'InvalidEndpoint',
      message: `${field}: ${JSON.stringify(endpoint)} is not supported: accepted is unix:// and an absolute path`,
      transient: false,
    });
  }
  return { client: new Client(`unix:${path}`, credentials.createInsecure(), CLIENT_OPTIONS), socket: path };
}
