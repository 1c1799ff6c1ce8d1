import { EventEmitter } from 'node:events';

import type { Logger } from 'pino';

import type { ContainerEventResponse, ContainerEventType } from '../proto/generated/cri.ts';
import { nowNs } from './clock.ts';
import { notFound, refused } from './errors.ts';
import type { ImageStore } from './images.ts';
import type { ContainerProcess, ProcessEnd } from './process.ts';
import type { ContainerRecord, Records, SandboxRecord } from './records.ts';
import { ContainerEventType as EventType } from '../proto/generated/cri.ts';
import { containerStatus, sandboxStatus } from './statuses.ts';

/** A container with what only the living server has of it. */
export interface ContainerEntry {
  readonly record: ContainerRecord;
  readonly name: string;
  process?: ContainerProcess;
  /** Settles, never rejects, when the start that is under way has succeeded or failed. */
  starting?: Promise<void>;
  /** Set as soon as its removal has begun. */
  removing?: boolean;
  /** The last reading of its CPU time, for the rate. */
  cpuSample?: { at: bigint; cpu: bigint };
  /** When the container, if running, is on record as exited. */
  exited: Promise<void>;
}

export interface SandboxEntry {
  readonly record: SandboxRecord;
  readonly name: string;
}

/** Everything that the server knows. Verbs read and change it; nothing else does. */
export class Runtime {
  readonly sandboxes = new Map<string, SandboxEntry>();
  readonly containers = new Map<string, ContainerEntry>();
  readonly records: Records;
  readonly images: ImageStore;
  readonly logger: Logger;
  readonly stateDir: string;
  /** `event` with a ContainerEventResponse. */
  readonly events = new EventEmitter<{ event: [ContainerEventResponse] }>();
  #names = new Map<string, string>();

  constructor(options: { records: Records; images: ImageStore; logger: Logger; stateDir: string }) {
    this.records = options.records;
    this.images = options.images;
    this.logger = options.logger;
    this.stateDir = options.stateDir;
    this.events.setMaxListeners(0);
  }

  /** Takes a name for an id until it is released. Refuses one that is taken, in containerd's words. */
  reserve(kind: 'sandbox' | 'container', name: string, id: string): void {
    const owner = this.#names.get(`${kind} ${name}`);
    if (owner !== undefined && owner !== id) {
      throw refused(`failed to reserve ${kind} name "${name}": name "${name}" is reserved for "${owner}"`);
    }
    this.#names.set(`${kind} ${name}`, id);
  }

  release(kind: 'sandbox' | 'container', name: string): void {
    this.#names.delete(`${kind} ${name}`);
  }

  /** By id or unique beginning of one, as crictl uses it; undefined when there is none. */
  findSandbox(id: string): SandboxEntry | undefined {
    return findByPrefix(this.sandboxes, id);
  }

  findContainer(id: string): ContainerEntry | undefined {
    return findByPrefix(this.containers, id);
  }

  /** @throws NOT_FOUND */
  sandbox(id: string): SandboxEntry {
    const entry = this.findSandbox(id);
    if (entry === undefined) throw notFound(`an error occurred when try to find sandbox "${id}"`);
    return entry;
  }

  /** @throws NOT_FOUND */
  container(id: string): ContainerEntry {
    const entry = this.findContainer(id);
    if (entry === undefined) throw notFound(`an error occurred when try to find container "${id}"`);
    return entry;
  }

  containersOf(sandboxId: string): ContainerEntry[] {
    return [...this.containers.values()].filter((entry) => entry.record.sandboxId === sandboxId);
  }

  /** Makes a process the container's: its end is put on record and told. */
  attach(entry: ContainerEntry, process: ContainerProcess): void {
    entry.process = process;
    entry.exited = process.ended.then((end) => this.#exited(entry, end));
    entry.exited.catch((error: unknown) => {
      this.logger.error({ err: error, containerId: entry.record.id }, 'exit of a container not put on record');
    });
  }

  /** Tells the subscribers of a change, with the pod's state after it. `id` is a container's or a sandbox's. */
  publish(type: ContainerEventType, id: string, sandboxId: string): void {
    if (this.events.listenerCount('event') === 0) return;
    const sandbox = this.sandboxes.get(sandboxId);
    this.events.emit('event', {
      containerId: id,
      containerEventType: type,
      createdAt: nowNs(),
      podSandboxStatus: sandbox && sandboxStatus(sandbox.record),
      containersStatuses: this.containersOf(sandboxId).map((each) => containerStatus(this.images, each.record)),
    });
  }

  async #exited(entry: ContainerEntry, { exitCode, finishedAt }: ProcessEnd): Promise<void> {
    const { record } = entry;
    entry.process = undefined;
    record.phase = 'exited';
    record.finishedAt = finishedAt;
    // containerd's own words and code for an exit that it could not observe.
    record.exitCode = exitCode ?? 255;
    record.reason = exitCode === undefined ? 'Unknown' : exitCode === 0 ? 'Completed' : 'Error';
    await this.records.saveContainer(record);
    this.publish(EventType.CONTAINER_STOPPED_EVENT, record.id, record.sandboxId);
  }
}

function findByPrefix<T>(entries: ReadonlyMap<string, T>, id: string): T | undefined {
  const exact = entries.get(id);
  if (exact !== undefined || id === '') return exact;
  const matches = [...entries].filter(([key]) => key.startsWith(id));
  return matches.length === 1 ? matches[0]?.[1] : undefined;
}
