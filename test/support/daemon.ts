import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountsBelow, readMounts, unmount } from '../../services/host/mounts.ts';
import { builtAgent } from './built.ts';
import type { Pod, PodSpec, PodStatus } from '../../machines/kubernetes.types.ts';
import { until } from './until.ts';

export const NODE_NAME = 'testnode';

export interface DaemonOptions {
  /** `unix:///…` */
  endpoint: string;
  /** Fields of the KubeletConfiguration on top of what every test needs. */
  config?: Record<string, unknown>;
  flags?: string[];
  nodeName?: string;
  /** Kept for the next start: a second one on the same folder is the same node. */
  directory?: string;
}

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
}

type Manifest = { metadata: { name: string } & Record<string, unknown>; spec: Partial<PodSpec> };

/**
 * The built agent as a process of its own on a node of its own: root directory, manifests, logs and ports are below and
 * for one temporary folder. It can be started again on the same folder.
 */
export class Daemon {
  readonly directory: string;
  readonly manifests: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly containerLogsDir: string;
  readonly configFile: string;
  readonly healthzPort: number;
  readonly readOnlyPort: number;
  readonly nodeName: string;
  readonly #run: string;
  readonly #options: DaemonOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<Finished> | undefined;
  #log = '';
  #saves = 0;

  private constructor(directory: string, run: string, options: DaemonOptions, ports: [number, number]) {
    this.directory = directory;
    this.manifests = join(directory, 'manifests');
    this.rootDir = join(directory, 'root');
    this.podLogsDir = join(directory, 'logs');
    this.containerLogsDir = join(directory, 'container-logs');
    this.configFile = join(directory, 'kubelet.yaml');
    this.#run = run;
    this.#options = options;
    this.nodeName = options.nodeName ?? NODE_NAME;
    [this.healthzPort, this.readOnlyPort] = ports;
  }

  /** The node's folder and configuration; nothing runs yet. */
  static async make(options: DaemonOptions): Promise<Daemon> {
    const run = await builtAgent();
    const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'statelet-e2e-')));
    const daemon = new Daemon(directory, run, options, [await freePort(), await freePort()]);
    await mkdir(daemon.manifests, { recursive: true });
    await daemon.writeConfig();
    return daemon;
  }

  static async start(options: DaemonOptions): Promise<Daemon> {
    const daemon = await Daemon.make(options);
    await daemon.start();
    return daemon;
  }

  /** Writes its configuration file, or another one that differs in some fields. */
  async writeConfig(file = this.configFile, over: Record<string, unknown> = {}): Promise<void> {
    const configuration = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      containerRuntimeEndpoint: this.#options.endpoint,
      staticPodPath: this.manifests,
      podLogsDir: this.podLogsDir,
      address: '127.0.0.1',
      healthzPort: this.healthzPort,
      readOnlyPort: this.readOnlyPort,
      cgroupsPerQOS: false,
      enforceNodeAllocatable: [],
      failCgroupV1: false,
      failSwapOn: false,
      ...this.#options.config,
      ...over,
    };
    await writeFile(file, JSON.stringify(configuration));
  }

  get arguments(): string[] {
    const { flags = [] } = this.#options;
    const folders = [`--root-dir=${this.rootDir}`, `--container-logs-dir=${this.containerLogsDir}`];
    return [`--config=${this.configFile}`, ...folders, `--hostname-override=${this.nodeName}`, ...flags];
  }

  /** Everything that every run of it wrote on standard error. */
  get log(): string {
    return this.#log;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('the agent does not run');
    return pid;
  }

  /** Starts it and waits until its servers answer. */
  async start(): Promise<void> {
    this.launch();
    const ended = this.ended().then(({ code }) => Promise.reject(new Error(`it ended with ${code}: ${this.#log}`)));
    await Promise.race([ended, this.until('healthz answers', () => this.#get(this.healthzPort, '/healthz'))]);
    ended.catch(() => undefined);
  }

  /** Starts it and waits for nothing. */
  launch(): void {
    const child = spawn(process.execPath, [this.#run, 'run', ...this.arguments], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // A test that failed half-way is not to wait for it.
    child.unref();
    (child.stderr as Socket).unref();
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#log += text));
    this.#child = child;
    this.#ended = new Promise((done) => child.once('close', (code, signal) => done({ code, signal })));
  }

  /** How it ended. */
  ended(): Promise<Finished> {
    if (!this.#ended) throw new Error('the agent does not run');
    return this.#ended;
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** SIGTERM, and how it ended. */
  stop(): Promise<Finished> {
    return this.#end('SIGTERM');
  }

  kill9(): Promise<Finished> {
    return this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<Finished> {
    const ended = this.ended();
    this.#child?.kill(signal);
    const finished = await ended;
    this.#child = undefined;
    return finished;
  }

  /** Writes a manifest as an editor does: outside, and then renamed in. */
  async put(pod: Manifest, file = `${pod.metadata.name}.yaml`): Promise<void> {
    await this.putText(file, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod }));
  }

  async putText(file: string, text: string | Buffer): Promise<void> {
    this.#saves += 1;
    const outside = join(this.directory, `save-${this.#saves}`);
    await writeFile(outside, text);
    await rename(outside, join(this.manifests, file));
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.manifests, `${name}.yaml`));
  }

  /** Of `/pods`, by the names in the manifests. */
  async pods(): Promise<Map<string, Pod & { status: PodStatus }>> {
    const body = await this.#get(this.readOnlyPort, '/pods');
    const { items } = JSON.parse(body) as { items: (Pod & { status: PodStatus })[] };
    return new Map(items.map((pod) => [(pod.metadata?.name ?? '').replace(`-${this.nodeName}`, ''), pod]));
  }

  async status(name: string): Promise<PodStatus | undefined> {
    return (await this.pods()).get(name)?.status;
  }

  /** Waits until the status of a pod satisfies; gives the status. */
  podIs(name: string, what: string, wanted: (status: PodStatus) => boolean, patienceMs?: number): Promise<PodStatus> {
    const look = async () => {
      const status = await this.status(name);
      return status && wanted(status) ? status : undefined;
    };
    return this.until(`pod ${name} is ${what}`, look, patienceMs);
  }

  ready(name: string, patienceMs?: number): Promise<PodStatus> {
    return this.podIs(name, 'ready', isReady, patienceMs);
  }

  phase(name: string, phase: string, patienceMs?: number): Promise<PodStatus> {
    return this.podIs(name, phase, (status) => status.phase === phase, patienceMs);
  }

  /** Waits until `/pods` no longer shows it. */
  gone(name: string, patienceMs?: number): Promise<boolean> {
    return this.until(`pod ${name} is gone`, async () => !(await this.pods()).has(name), patienceMs);
  }

  until<T>(what: string, look: () => Promise<T | undefined | false> | T | undefined | false, patienceMs?: number) {
    const told = async () => {
      const shown = await this.#get(this.readOnlyPort, '/pods').catch(String);
      return `${shown.slice(0, 4000)}\n${this.#log.slice(-6000)}`;
    };
    return until(what, look, { told, patienceMs });
  }

  /** Runs another command of the agent; rejects with `code`, `stdout` and `stderr`. */
  command(...args: string[]): Promise<{ stdout: string; stderr: string }> {
    return new Promise((resolve, reject) =>
      execFile(process.execPath, [this.#run, ...args], (error, stdout, stderr) =>
        error ? reject(Object.assign(error, { stdout, stderr })) : resolve({ stdout, stderr }),
      ),
    );
  }

  /** Takes all manifests away and waits until the agent has ended every pod. */
  async empty(): Promise<void> {
    await rm(this.manifests, { recursive: true });
    await mkdir(this.manifests);
    await this.until('no pods are left', async () => (await this.pods()).size === 0, 55_000);
  }

  /** Ends it where it runs and removes its folder. */
  async discard(): Promise<void> {
    if (this.#child) await this.kill9();
    // Of pods that still ran: memory that their volumes and the kept secrets lie in.
    const signal = AbortSignal.timeout(10_000);
    for (const mount of mountsBelow(await readMounts(), this.directory)) await unmount(mount, signal);
    await rm(this.directory, { recursive: true, force: true });
  }

  async #get(port: number, path: string): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5_000) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.text();
  }
}

export function isReady(status: PodStatus): boolean {
  return condition(status, 'Ready') === 'True';
}

export function condition(status: PodStatus, type: string): string | undefined {
  return status.conditions?.find((each) => each.type === type)?.status;
}

/** Lines of a file; none where it is not there. */
export async function lines(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
