import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectCri } from '../../services/cri/client.ts';
import type { Cri } from '../../services/cri/client.ts';
import { version } from '../../services/cri/verbs/version.ts';
import { emptyRuntime } from './empty-runtime.ts';
import { until } from './until.ts';

const MAIN = fileURLToPath(new URL('../../services/cri/embedded/main.ts', import.meta.url));

/** The embedded runtime as a process of its own in a folder of its own; containers outlive it. */
export class EmbeddedProcess {
  readonly directory: string;
  readonly endpoint: string;
  readonly cri: Cri;
  #child: ChildProcess | undefined;

  private constructor(directory: string) {
    this.directory = directory;
    this.endpoint = `unix://${join(directory, 'cri.sock')}`;
    this.cri = connectCri({ runtimeEndpoint: this.endpoint, runtimeRequestTimeoutMs: 10_000 });
  }

  static async make(): Promise<EmbeddedProcess> {
    return new EmbeddedProcess(await mkdtemp(join(tmpdir(), 'runtime-')));
  }

  static async start(): Promise<EmbeddedProcess> {
    const runtime = await EmbeddedProcess.make();
    await runtime.start();
    return runtime;
  }

  async start(): Promise<void> {
    const { directory } = this;
    const args = ['--socket', join(directory, 'cri.sock'), '--state', join(directory, 'state')];
    const child = spawn(process.execPath, [MAIN, ...args, '--absent', 'nowhere:1'], { stdio: 'ignore' });
    child.unref();
    this.#child = child;
    await until('the embedded runtime answers', () => version(this.cri));
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill(signal);
    await ended;
    this.#child = undefined;
  }

  /** Ends every container, the server, and removes the folder. */
  async discard(): Promise<void> {
    if (!this.#child) await this.start();
    await emptyRuntime(this.cri);
    this.cri.close();
    await this.end('SIGTERM');
    await rm(this.directory, { recursive: true });
  }
}

/**
 * Processes whose command line has the words, by id, without their own children, which are like them until they run
 * something.
 */
export async function processesWith(words: string): Promise<number[]> {
  return [...(await commandsWith(words)).keys()];
}

/** Command lines that have the words, by process id. */
export async function commandsWith(words: string): Promise<Map<number, string>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = new Map<number, { command: string; parent: number }>();
  for (const pid of pids) {
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');
    if (!command.includes(words)) continue;
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    found.set(Number(pid), { command, parent: Number(/\) \S (\d+)/.exec(stat)?.[1]) });
  }
  return new Map([...found].flatMap(([pid, { command, parent }]) => (found.has(parent) ? [] : [[pid, command]])));
}
