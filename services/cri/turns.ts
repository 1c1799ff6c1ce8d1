import { abortedError } from './errors.ts';
import { TurnLimit } from './turn-limit.ts';

/**
 * `container`: create or start in a pod that has begun. `sandbox`: begin a pod. `prepare`: make what its sandbox stands on.
 * `teardown`: stop or remove a sandbox.
 */
export type TurnKind = 'container' | 'sandbox' | 'prepare' | 'teardown';

interface Waiting {
  kind: TurnKind;
  begin: () => void;
}

/**
 * How long the turn of a pod's step is kept for containers after it, ms: the pod's next step follows within
 * milliseconds, and must not wait for a whole sandbox of another pod that took the turn in between.
 */
const KEEP_MS = 25;
/** A call that takes longer than this, ms, waits rather than works: its turn goes to others while it goes on. */
const OVERDUE_MS = 10_000;

export interface Clock {
  /** Milliseconds, never set back. */
  now(): number;
  after(delayMs: number, run: () => void): { cancel(): void };
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Pods that are prepared or being prepared while their sandbox has not begun: a burst is not prepared all at once. */
const AHEAD = 2;
/** Sandboxes torn down at a time while pods begin: enough that it goes on, few enough that it hardly holds them up. */
const TEARDOWN_BESIDE = 1;

/**
 * Bounds how many sandboxes and containers are created and started at a time (docs/adr/0003). Containers go before
 * sandboxes, so that pods that have begun are finished before others begin; within a kind it is first come, first
 * served. Pods are prepared just ahead of their sandbox's turn, and sandboxes are torn down beside, a few at a time. A
 * call's own deadline runs from the begin of its turn.
 */
export class Turns {
  readonly #limit: TurnLimit;
  readonly #clock: Clock;
  readonly #teardowns: number;
  readonly #queues: Record<TurnKind, Waiting[]> = { container: [], sandbox: [], prepare: [], teardown: [] };
  readonly #taken: Record<TurnKind, number> = { container: 0, sandbox: 0, prepare: 0, teardown: 0 };
  /** Turns that ended a moment ago and are kept for containers. */
  readonly #kept: { cancel(): void }[] = [];

  constructor(cores: number, clock: Clock = systemClock) {
    this.#limit = new TurnLimit(cores);
    this.#teardowns = Math.max(2, cores);
    this.#clock = clock;
  }

  /** Calls under way and waiting, for metrics and for explaining a pod. */
  get load(): { limit: number; taken: number; waiting: number } {
    const { container, sandbox } = this.#queues;
    return { limit: this.#limit.value, taken: this.#busy, waiting: container.length + sandbox.length };
  }

  /**
   * Runs a call when its turn has come.
   *
   * @param signal ends the wait for the turn; what has begun is the call's own matter
   * @throws AgentError `CANCELLED` while waiting, and whatever the call throws
   */
  async take<T>(kind: TurnKind, call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#turn(kind, signal);
    const began = this.#clock.now();
    let held = true;
    const giveBack = (keep: boolean) => {
      if (held) this.#giveBack(kind, keep);
      held = false;
    };
    const overdue = this.#clock.after(OVERDUE_MS, () => giveBack(false));
    try {
      return await call();
    } finally {
      overdue.cancel();
      if (kind === 'sandbox') this.#limit.observe(this.#clock.now() - began, this.#queues.sandbox.length > 0);
      giveBack(kind === 'container' || kind === 'sandbox');
    }
  }

  #turn(kind: TurnKind, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(abortedError(`waiting for a ${kind}'s turn`));
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        kind,
        begin: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = () => {
        const queue = this.#queues[kind];
        queue.splice(queue.indexOf(waiting), 1);
        reject(abortedError(`waiting for a ${kind}'s turn`));
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#queues[kind].push(waiting);
      this.#admit();
    });
  }

  get #busy(): number {
    return this.#taken.container + this.#taken.sandbox;
  }

  #giveBack(kind: TurnKind, keep: boolean): void {
    this.#taken[kind] -= 1;
    if (keep) {
      const kept = this.#clock.after(KEEP_MS, () => {
        this.#kept.splice(this.#kept.indexOf(kept), 1);
        this.#admit();
      });
      this.#kept.push(kept);
    }
    this.#admit();
  }

  #admit(): void {
    const { container, sandbox } = this.#queues;
    while (this.#busy < this.#limit.value && container.length > 0) {
      this.#kept.shift()?.cancel();
      this.#begin('container');
    }
    while (this.#busy + this.#kept.length < this.#limit.value && sandbox.length > 0) this.#begin('sandbox');
    while (this.#queues.prepare.length > 0 && this.#taken.prepare + sandbox.length < AHEAD) this.#begin('prepare');
    const teardowns = this.#busy > 0 ? TEARDOWN_BESIDE : this.#teardowns;
    while (this.#queues.teardown.length > 0 && this.#taken.teardown < teardowns) this.#begin('teardown');
  }

  #begin(kind: TurnKind): void {
    this.#taken[kind] += 1;
    this.#queues[kind].shift()?.begin();
  }
}
