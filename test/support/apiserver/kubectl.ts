import { execFile, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { describeWhere } from '../describe-where.ts';

/** Tests by the real kubectl. */
export function describeKubectl(name: string, tests: () => void): void {
  const isThere = spawnSync('kubectl', ['version', '--client']).status === 0;
  describeWhere(name, { lacks: isThere ? '' : 'kubectl', variable: 'STATELET_TEST_CONTAINERD' }, tests);
}

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Longest run of one kubectl command, ms. */
const PATIENCE_MS = 90_000;
/** Of its output: some hundred pods as JSON, bytes. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/**
 * The real kubectl with a kubeconfig, in its namespace unless a command names another; its cache lies beside that file.
 * `run` answers stdout and throws what kubectl said.
 */
export class Kubectl {
  readonly kubeconfig: string;
  readonly namespace: string;

  constructor(kubeconfig: string, namespace = 'default') {
    this.kubeconfig = kubeconfig;
    this.namespace = namespace;
  }

  /** Runs a command, however it ends. `input` is its standard input. */
  try(args: readonly string[], input = ''): Promise<Ran> {
    const cache = join(dirname(this.kubeconfig), 'cache');
    const common = ['--kubeconfig', this.kubeconfig, '--cache-dir', cache, '--namespace', this.namespace];
    return new Promise((resolve) => {
      const limits = { timeout: PATIENCE_MS, maxBuffer: MAX_OUTPUT };
      const child = execFile('kubectl', [...common, ...args], limits, (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : 1;
        resolve({ code: error ? code : 0, stdout, stderr: stderr || (error?.message ?? '') });
      });
      child.stdin?.end(input);
    });
  }

  async run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.try(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${code}\n${stdout}${stderr}`);
    return stdout;
  }

  /** An object, or a list, as JSON. */
  async get<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    return JSON.parse(await this.run('get', ...args, '-o', 'json')) as T;
  }

  /** Creates objects from their JSON. */
  async create(...objects: object[]): Promise<string> {
    const input = objects.map((object) => JSON.stringify(object)).join('\n');
    const { code, stdout, stderr } = await this.try(['create', '-f', '-'], input);
    if (code !== 0) throw new Error(`kubectl create: ${code}\n${stdout}${stderr}`);
    return stdout;
  }
}
