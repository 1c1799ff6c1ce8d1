import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { credentials } from '@grpc/grpc-js';
import type { CallOptions, ClientUnaryCall, Metadata, ServiceError } from '@grpc/grpc-js';
import { Metadata as GrpcMetadata } from '@grpc/grpc-js';

import { startEmbeddedRuntime } from '../../../services/cri/embedded/index.ts';
import type { EmbeddedRuntime, EmbeddedRuntimeOptions } from '../../../services/cri/embedded/index.ts';
import type { DeepPartial } from '../../../services/cri/proto/generated/cri.ts';
import {
  ContainerConfig,
  ContainerState,
  ContainerStatus,
  ImageServiceClient,
  PodSandboxConfig,
  RuntimeServiceClient,
} from '../../../services/cri/proto/generated/cri.ts';

type Unary<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, response: Response) => void,
) => ClientUnaryCall;

/** A unary method of a client as a promise; rejects with the ServiceError (`code`, `details`). */
export function call<Request, Response>(
  method: Unary<Request, Response>,
  client: RuntimeServiceClient | ImageServiceClient,
  request: Request,
  options: { deadlineMs?: number } = {},
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const deadline = options.deadlineMs === undefined ? undefined : Date.now() + options.deadlineMs;
    method.call(client, request, new GrpcMetadata(), { deadline }, (error, response) =>
      error === null ? resolve(response) : reject(error),
    );
  });
}

/** A runtime in a directory of its own, with clients and the steps that most tests take. */
export class Bench {
  readonly directory: string;
  #runtime: EmbeddedRuntime | undefined;
  readonly client: RuntimeServiceClient;
  readonly images: ImageServiceClient;
  readonly #options: Partial<EmbeddedRuntimeOptions>;
  #count = 0;

  private constructor(directory: string, options: Partial<EmbeddedRuntimeOptions> = {}) {
    this.directory = directory;
    this.#options = options;
    this.client = new RuntimeServiceClient(`unix:${this.socketPath}`, credentials.createInsecure());
    this.images = new ImageServiceClient(`unix:${this.socketPath}`, credentials.createInsecure());
  }

  static async start(options: Partial<EmbeddedRuntimeOptions> = {}): Promise<Bench> {
    const bench = new Bench(await mkdtemp(join(tmpdir(), 'embedded-')), options);
    await bench.#serve();
    return bench;
  }

  /** Clients of a server that somebody else started in the directory. */
  static connect(directory: string): Bench {
    return new Bench(directory);
  }

  get runtime(): EmbeddedRuntime {
    if (this.#runtime === undefined) throw new Error('this bench has no server of its own');
    return this.#runtime;
  }

  get socketPath(): string {
    return join(this.directory, 'cri.sock');
  }

  get stateDir(): string {
    return join(this.directory, 'state');
  }

  /** Ends the server as told and starts another on the same state. */
  async restart(containers: 'kill' | 'leave'): Promise<void> {
    await this.runtime.stop({ containers });
    await this.#serve();
  }

  disconnect(): void {
    this.client.close();
    this.images.close();
  }

  async stop(): Promise<void> {
    this.disconnect();
    await this.runtime.stop();
    await rm(this.directory, { recursive: true });
  }

  sandboxConfig(fields: DeepPartial<PodSandboxConfig> = {}): PodSandboxConfig {
    this.#count += 1;
    return PodSandboxConfig.fromPartial({
      metadata: { name: `pod${this.#count}`, uid: `uid${this.#count}`, namespace: 'default', attempt: 0 },
      hostname: `pod${this.#count}`,
      logDirectory: join(this.directory, 'logs', `pod${this.#count}`),
      ...fields,
    });
  }

  async sandbox(config = this.sandboxConfig()): Promise<string> {
    const request = { config, runtimeHandler: '' };
    return (await call(this.client.runPodSandbox, this.client, request)).podSandboxId;
  }

  async create(podSandboxId: string, fields: DeepPartial<ContainerConfig> = {}): Promise<string> {
    const config = ContainerConfig.fromPartial({
      metadata: { name: 'main', attempt: 0 },
      image: { image: 'busybox' },
      logPath: 'main/0.log',
      ...fields,
    });
    const request = { podSandboxId, config, sandboxConfig: undefined };
    return (await call(this.client.createContainer, this.client, request)).containerId;
  }

  async begin(containerId: string): Promise<void> {
    await call(this.client.startContainer, this.client, { containerId });
  }

  /** A started container that runs a shell script. */
  async shell(script: string, fields: DeepPartial<ContainerConfig> = {}, sandboxId?: string): Promise<string> {
    const id = await this.create(sandboxId ?? (await this.sandbox()), { command: ['sh', '-c', script], ...fields });
    await this.begin(id);
    return id;
  }

  async status(containerId: string): Promise<ContainerStatus> {
    const { status } = await call(this.client.containerStatus, this.client, { containerId, verbose: false });
    return ContainerStatus.fromPartial(status ?? {});
  }

  /** The status of a container once it has exited. */
  exited(containerId: string): Promise<ContainerStatus> {
    return until(async () => {
      const status = await this.status(containerId);
      return status.state === ContainerState.CONTAINER_EXITED ? status : undefined;
    });
  }

  async pid(containerId: string): Promise<number> {
    const { info } = await call(this.client.containerStatus, this.client, { containerId, verbose: true });
    return (JSON.parse(info.info ?? '{}') as { pid: number }).pid;
  }

  async log(containerId: string): Promise<string> {
    return readFile((await this.status(containerId)).logPath, 'utf8');
  }

  async #serve(): Promise<void> {
    const images = { present: ['busybox'], ...this.#options.images };
    const { socketPath, stateDir } = this;
    this.#runtime = await startEmbeddedRuntime({ socketPath, stateDir, ...this.#options, images });
  }

  /** The number in a file of the directory, once there is one. */
  async readNumber(file: string): Promise<number | undefined> {
    const text = await readFile(join(this.directory, file), 'utf8').catch(() => '');
    return text.trim() === '' ? undefined : Number(text);
  }

  /** Changes fields of a container's record, while no server runs. */
  async editRecord(containerId: string, fields: object): Promise<void> {
    const path = join(this.stateDir, 'containers', containerId, 'record.json');
    const record = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...record, ...fields }));
  }

  touch(file: string): Promise<void> {
    return writeFile(join(this.directory, file), '');
  }

  /** The text of a container's log, without times, streams and tags. */
  async output(containerId: string): Promise<string[]> {
    return (await this.log(containerId))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ').slice(3).join(' '));
  }
}

/** The first value of `look` that is not undefined; the test's own time limit ends it. */
export async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(10);
  }
}
