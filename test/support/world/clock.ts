/**
 * Virtual time for a whole agent: XState's timers and the simulated runtime share it. Between two timers every promise
 * that can settle has settled, so that a run depends on the seed alone.
 */
export class VirtualClock {
  #time = 0;
  #sequence = 0;
  /** Added to the wall clock, so that jumps do not move the timers. */
  skewMs = 0;
  readonly #timers = new Map<number, { at: number; run: () => void }>();

  readonly epoch = Date.UTC(2026, 0, 1);

  /** Monotonic, ms since the start of the run. */
  get elapsed(): number {
    return this.#time;
  }

  /** Wall clock, ms since the epoch; jumps with `skewMs`. */
  now = (): number => this.epoch + this.#time + this.skewMs;

  setTimeout = (run: () => void, ms: number): number => {
    const id = ++this.#sequence;
    this.#timers.set(id, { at: this.#time + Math.max(0, ms), run });
    return id;
  };

  clearTimeout = (id: number): void => {
    this.#timers.delete(id);
  };

  /** Runs every timer due within `ms` from now, in order. */
  async advance(ms: number): Promise<void> {
    const until = this.#time + ms;
    await settled();
    for (;;) {
      let next: [number, { at: number; run: () => void }] | undefined;
      for (const entry of this.#timers) if (entry[1].at <= until && (!next || entry[1].at < next[1].at)) next = entry;
      if (!next) break;
      this.#timers.delete(next[0]);
      this.#time = Math.max(this.#time, next[1].at);
      next[1].run();
      await settled();
    }
    this.#time = until;
  }
}

/** Lets all promise reactions run, those that they start included. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
