import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { ContainerConfig, LinuxContainerResources, PodSandboxConfig } from '../proto/generated/cri.ts';
import { makeDirectory } from '../../host/make-directory.ts';

export interface SandboxRecord {
  id: string;
  config: PodSandboxConfig;
  runtimeHandler: string;
  state: 'ready' | 'notReady';
  createdAt: bigint;
  /** A loopback address of the sandbox's own; empty on the host's network. */
  ip: string;
}

export interface ContainerRecord {
  id: string;
  sandboxId: string;
  config: ContainerConfig;
  imageId: string;
  /** `repository@sha256:…` */
  imageRef: string;
  /** Full path of the log; empty where the config names none. */
  logPath: string;
  /** `starting`: a process may exist whose pid is not on record yet. */
  phase: 'created' | 'starting' | 'running' | 'exited';
  createdAt: bigint;
  startedAt: bigint;
  finishedAt: bigint;
  exitCode: number;
  reason: string;
  message: string;
  resources: LinuxContainerResources;
  pid: number;
  /** Of the process, from /proc: a pid alone may be another's by now. */
  pidStartTime: string;
}

/**
 * What survives the server: one directory per object with `record.json` in it. Readable by the owner only, since
 * environments hold secrets. Messages are kept in their wire form.
 */
export class Records {
  readonly #root: string;
  #turns = new Map<string, Promise<void>>();

  constructor(root: string) {
    this.#root = root;
  }

  async open(): Promise<void> {
    await makeDirectory(join(this.#root, 'containers'), 0o700);
    await makeDirectory(join(this.#root, 'sandboxes'), 0o700);
  }

  containerDirectory(id: string): string {
    return join(this.#root, 'containers', id);
  }

  saveContainer(record: ContainerRecord): Promise<void> {
    const config = Buffer.from(ContainerConfig.encode(record.config).finish()).toString('base64');
    const resources = Buffer.from(LinuxContainerResources.encode(record.resources).finish()).toString('base64');
    return this.#save(`containers/${record.id}`, { ...record, config, resources });
  }

  saveSandbox(record: SandboxRecord): Promise<void> {
    const config = Buffer.from(PodSandboxConfig.encode(record.config).finish()).toString('base64');
    return this.#save(`sandboxes/${record.id}`, { ...record, config });
  }

  saveImages(references: readonly string[]): Promise<void> {
    return this.#save('images', { references });
  }

  removeContainer(id: string): Promise<void> {
    return this.#inTurn(`containers/${id}`, (folder) => rm(folder, { recursive: true, force: true }));
  }

  removeSandbox(id: string): Promise<void> {
    return this.#inTurn(`sandboxes/${id}`, (folder) => rm(folder, { recursive: true, force: true }));
  }

  async loadContainers(): Promise<ContainerRecord[]> {
    return (await this.#load<Stored<ContainerRecord>>('containers')).map((stored) => ({
      ...stored,
      config: ContainerConfig.decode(Buffer.from(stored.config, 'base64')),
      resources: LinuxContainerResources.decode(Buffer.from(stored.resources, 'base64')),
      createdAt: BigInt(stored.createdAt),
      startedAt: BigInt(stored.startedAt),
      finishedAt: BigInt(stored.finishedAt),
    }));
  }

  async loadSandboxes(): Promise<SandboxRecord[]> {
    return (await this.#load<Stored<SandboxRecord>>('sandboxes')).map((stored) => ({
      ...stored,
      config: PodSandboxConfig.decode(Buffer.from(stored.config, 'base64')),
      createdAt: BigInt(stored.createdAt),
    }));
  }

  async loadImages(): Promise<string[]> {
    const stored = await this.#read<{ references: string[] }>(join(this.#root, 'images'));
    return stored?.references ?? [];
  }

  /** Every record of a kind; a directory without one is what a killed server left of an unfinished create: it goes. */
  async #load<T>(kind: string): Promise<T[]> {
    const records: T[] = [];
    for (const id of await readdir(join(this.#root, kind))) {
      const folder = join(this.#root, kind, id);
      const record = await this.#read<T>(folder);
      if (record === undefined) await rm(folder, { recursive: true, force: true });
      else records.push(record);
    }
    return records;
  }

  async #read<T>(folder: string): Promise<T | undefined> {
    const path = join(folder, 'record.json');
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw new Error(`${path} is not a record of the embedded runtime`, { cause: error });
    }
  }

  #save(name: string, fields: object): Promise<void> {
    const text = JSON.stringify(fields, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    return this.#inTurn(name, async (folder) => {
      await makeDirectory(folder, 0o700);
      await writeFile(join(folder, 'record.json.new'), text, { mode: 0o600 });
      await rename(join(folder, 'record.json.new'), join(folder, 'record.json'));
    });
  }

  /** Writes of one object happen in the order in which they were asked for. */
  #inTurn(name: string, work: (folder: string) => Promise<void>): Promise<void> {
    const result = (this.#turns.get(name) ?? Promise.resolve()).then(() => work(join(this.#root, name)));
    const turn = result
      .catch(() => undefined)
      .then(() => {
        if (this.#turns.get(name) === turn) this.#turns.delete(name);
      });
    this.#turns.set(name, turn);
    return result;
  }
}

/** A record as JSON has it: times are decimal strings, messages base64. */
type Stored<T> = { [Key in keyof T]: T[Key] extends string | number ? T[Key] : string };
