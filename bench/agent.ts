import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mountsBelow, readMounts, unmount } from '../services/host/mounts.ts';
import { now } from './pods.ts';

export interface AgentOptions {
  /** bin/run.js */
  run: string;
  /** For its root directory, logs and configuration. */
  directory: string;
  /** `unix:///…` */
  endpoint: string;
  kubeconfig: string;
  node: string;
  /** Its log, with every state that an actor enters, goes there. */
  trace?: string;
}

/** The built agent as a node of a cluster. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #root: string;
  readonly #trace: WriteStream | undefined;
  #child: ChildProcess | undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#root = join(options.directory, 'root');
    this.#trace = options.trace === undefined ? undefined : createWriteStream(options.trace);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Answers when it was executed, ms since the epoch. It ends the benchmark when it ends by itself. */
  async start(): Promise<number> {
    const { run, directory, endpoint, kubeconfig, node } = this.#options;
    await mkdir(directory, { recursive: true });
    const config = join(directory, 'config.json');
    // Ports of 0: nothing here asks the agent, and other agents may run on the machine.
    const configuration = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      containerRuntimeEndpoint: endpoint,
      podLogsDir: join(directory, 'logs'),
      address: '127.0.0.1',
      healthzPort: 0,
      readOnlyPort: 0,
      cgroupRoot: '/',
      failCgroupV1: false,
      failSwapOn: false,
    };
    await writeFile(config, JSON.stringify(configuration));
    const args = ['run', `--config=${config}`, `--root-dir=${this.#root}`, `--hostname-override=${node}`];
    args.push(`--kubeconfig=${kubeconfig}`, `--container-logs-dir=${join(directory, 'links')}`);
    if (this.#trace) args.push('-v', '4');
    const startedAt = now();
    const child = spawn(process.execPath, [run, ...args], { stdio: ['ignore', 'inherit', 'pipe'] });
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4000);
      this.#trace?.write(text);
    });
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      throw new Error(`the agent ended with ${code ?? signal}: ${log}`);
    });
    this.#child = child;
    return startedAt;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGTERM');
    await ended;
  }

  /** Takes away all that an agent which does not run left on disk: the next one is a new node. */
  async forget(): Promise<void> {
    const signal = AbortSignal.timeout(10_000);
    for (const mount of mountsBelow(await readMounts(), this.#root)) await unmount(mount, signal);
    await rm(this.#root, { recursive: true, force: true });
  }
}
