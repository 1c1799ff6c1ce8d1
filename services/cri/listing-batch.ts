import type { Cri } from './client.ts';
import { abortedError } from './errors.ts';
import { POD_UID } from './owner.ts';
import type { Container, PodSandbox } from './proto/generated/cri.ts';
import { listContainers } from './verbs/list-containers.ts';
import { listPodSandbox } from './verbs/list-pod-sandbox.ts';

export interface Listed {
  /** When the first of the two calls began, ms. */
  at: number;
  sandboxes: PodSandbox[];
  containers: Container[];
}

/** Looks asked for in one turn of the event loop from which on one listing of everything is cheaper. */
const WORTH_LISTING_ALL = 4;

interface Waiting {
  uid: string;
  signal: AbortSignal;
  resolve: (listed: Listed) => void;
  reject: (error: unknown) => void;
}

/**
 * Listings of single pods. Those asked for in the same turn of the event loop share one listing that begins after all
 * of them were asked for: a restart with a hundred pods is one listing, not a hundred.
 */
export class ListingBatch {
  readonly #cri: Cri;
  readonly #now: () => number;
  #waiting: Waiting[] = [];

  constructor(cri: Cri, now: () => number) {
    this.#cri = cri;
    this.#now = now;
  }

  listAll(signal?: AbortSignal): Promise<Listed> {
    return this.#list({}, signal);
  }

  listPod(uid: string, signal: AbortSignal): Promise<Listed> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push({ uid, signal, resolve, reject });
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length < WORTH_LISTING_ALL) {
      for (const { uid, signal, resolve, reject } of waiting)
        this.#list({ [POD_UID]: uid }, signal).then(resolve, reject);
      return;
    }
    for (const { signal, reject } of waiting)
      signal.addEventListener('abort', () => reject(abortedError('ListContainers')), { once: true });
    this.listAll().then(
      (all) => {
        const sandboxes = Map.groupBy(all.sandboxes, ({ labels }) => labels[POD_UID]);
        const containers = Map.groupBy(all.containers, ({ labels }) => labels[POD_UID]);
        for (const { uid, resolve } of waiting)
          resolve({ at: all.at, sandboxes: sandboxes.get(uid) ?? [], containers: containers.get(uid) ?? [] });
      },
      (error: unknown) => waiting.forEach(({ reject }) => reject(error)),
    );
  }

  async #list(labels: Record<string, string>, signal: AbortSignal | undefined): Promise<Listed> {
    const at = this.#now();
    const [sandboxes, containers] = await Promise.all([
      listPodSandbox(this.#cri, labels, signal),
      listContainers(this.#cri, { labels }, signal),
    ]);
    return { at, sandboxes, containers };
  }
}
