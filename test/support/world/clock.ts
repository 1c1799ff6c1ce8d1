/** A timer that is to run at `at`; those of the same moment run in the order in which they were set. */
interface Timer {
  at: number;
  id: number;
  run: (() => void) | undefined;
}

/**
 * Virtual time for a whole agent: XState's timers and the simulated runtime share it. Between two timers every promise
 * that can settle has settled, so that a run depends on the seed alone.
 */
export class VirtualClock {
  #time = 0;
  #sequence = 0;
  /** Added to the wall clock, so that jumps do not move the timers. */
  skewMs = 0;
  /** A binary heap, the next timer first; a cleared one stays in it without its work. */
  readonly #heap: Timer[] = [];
  readonly #timers = new Map<number, Timer>();

  readonly epoch = Date.UTC(2026, 0, 1);

  /** Monotonic, ms since the start of the run. */
  get elapsed(): number {
    return this.#time;
  }

  /** Wall clock, ms since the epoch; jumps with `skewMs`. */
  now = (): number => this.epoch + this.#time + this.skewMs;

  setTimeout = (run: () => void, ms: number): number => {
    const timer = { at: this.#time + Math.max(0, ms), id: ++this.#sequence, run };
    this.#timers.set(timer.id, timer);
    this.#push(timer);
    return timer.id;
  };

  clearTimeout = (id: number): void => {
    const timer = this.#timers.get(id);
    if (timer) timer.run = undefined;
    this.#timers.delete(id);
  };

  /** Timers that wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Runs every timer due within `ms` from now, in order. */
  async advance(ms: number): Promise<void> {
    const until = this.#time + ms;
    await settled();
    for (let next = this.#heap[0]; next && next.at <= until; next = this.#heap[0]) {
      this.#shift();
      if (!next.run) continue;
      this.#timers.delete(next.id);
      this.#time = Math.max(this.#time, next.at);
      next.run();
      await settled();
    }
    this.#time = until;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let index = heap.push(timer) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(timer, heap[parent] as Timer)) break;
      heap[index] = heap[parent] as Timer;
      index = parent;
    }
    heap[index] = timer;
  }

  #shift(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child++;
      if (child >= heap.length || !isBefore(heap[child] as Timer, last)) break;
      heap[index] = heap[child] as Timer;
      index = child;
    }
    heap[index] = last;
  }
}

const isBefore = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.id < b.id);

/** Lets all promise reactions run, those that they start included. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
