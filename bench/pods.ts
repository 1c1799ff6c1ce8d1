import { EventEmitter, once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { stat, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const IMAGE = 'docker.io/library/busybox:1.35';
/** A container makes `<out>/<name>.<run>` the moment its process runs; shell builtins only, so nothing is forked before. */
const count = (name: string) => `i=0; while [ -e /out/${name}.$i ]; do i=$((i+1)); done; : > /out/${name}.$i; `;

export const live = (name: string) => `${count(name)}trap 'exit 0' TERM; sleep 864000 & wait`;
export const exitsOnce = (name: string) =>
  `${count(name)}if [ $i = 0 ]; then sleep 2.5; : > /out/${name}.x; exit 0; fi; trap 'exit 0' TERM; sleep 864000 & wait`;
export const tellsTerm = (name: string) => `${count(name)}trap ': > /out/${name}.t; exit 0' TERM; sleep 864000 & wait`;

/** The pod of every measurement: one container of busybox and one hostPath volume. */
export function manifest(name: string, script: string, out: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      terminationGracePeriodSeconds: 5,
      containers: [
        {
          name: 'c',
          image: IMAGE,
          imagePullPolicy: 'IfNotPresent',
          command: ['/bin/sh', '-c', script],
          volumeMounts: [{ name: 'out', mountPath: '/out' }],
        },
      ],
      volumes: [{ name: 'out', hostPath: { path: out, type: 'DirectoryOrCreate' } }],
    },
  };
}

export class Folder {
  readonly manifests: string;
  readonly out: string;
  readonly #told = new EventEmitter();

  /** Both folders are there. */
  constructor(manifests: string, out: string) {
    this.manifests = manifests;
    this.out = out;
    this.#told.setMaxListeners(0);
    watch(out, { persistent: false }, (_, name) => this.#told.emit(String(name)));
  }

  /** Written beside the folder and renamed in: one event, never half a file. Answers when, ms since the epoch. */
  async put(name: string, script: string): Promise<number> {
    const draft = join(this.out, `.${name}`);
    await writeFile(draft, JSON.stringify(manifest(name, script, this.out)));
    const at = now();
    await rename(draft, join(this.manifests, `${name}.json`));
    return at;
  }

  async remove(name: string): Promise<number> {
    const at = now();
    await unlink(join(this.manifests, `${name}.json`));
    return at;
  }

  /**
   * When the file was made, ms since the epoch; waits for it. The kernel tells of files: to look for a hundred of them again
   * and again would take much of a core from what is measured.
   */
  async made(file: string, patienceMs = 120_000): Promise<number> {
    const patience = AbortSignal.timeout(patienceMs);
    for (;;) {
      const looked = new AbortController();
      const told = once(this.#told, file, { signal: AbortSignal.any([patience, looked.signal]) });
      told.catch(() => undefined);
      try {
        return (await stat(join(this.out, file))).mtimeMs;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        if (patience.aborted) throw new Error(`${file} was not made within ${patienceMs} ms`, { cause: error });
        await told.catch(() => undefined);
      } finally {
        looked.abort();
      }
    }
  }
}

export const now = () => performance.timeOrigin + performance.now();

/** Pids of shells whose command names the prefix: the containers of this run. */
export async function alive(prefix: string): Promise<number[]> {
  const pids: number[] = [];
  for (const pid of (await readdir('/proc')).filter((n) => /^\d+$/.test(n))) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.startsWith('/bin/sh') && command.includes(`/out/${prefix}`)) pids.push(Number(pid));
  }
  return pids;
}

/** When the last of the containers was gone. */
export async function allGone(prefix: string): Promise<number> {
  let at: number | undefined;
  for (let pids = await alive(prefix); pids.length > 0; pids = await alive(prefix)) at = await ended(pids);
  return at ?? now();
}

/** When the last of some processes is gone. */
export async function ended(pids: readonly number[]): Promise<number> {
  for (const pid of pids) while (existsSync(`/proc/${pid}`)) await sleep(2);
  return now();
}

/** CPU seconds and resident MiB of a process. */
export async function usage(pid: number): Promise<{ cpuSeconds: number; rssMiB: number }> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  const rss = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100, rssMiB: Number(rss) / 1024 };
}

export const median = (xs: readonly number[]): number => {
  const sorted = [...xs].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? (sorted[half] ?? NaN) : ((sorted[half - 1] ?? NaN) + (sorted[half] ?? NaN)) / 2;
};
