/** Calls of one kind whose mean latency is one sample. */
const SAMPLE = 4;
/** Below this ratio to the best latency seen the runtime has room for more; above the other it only queues. */
const ROOM = 1.5;
const CROWDED = 4;
/** The best latency is forgotten by this factor with each sample, so that an old one does not bind for ever. */
const FORGET = 1.02;

interface Latency {
  sum: number;
  count: number;
  best: number;
}

/**
 * How many creations may be under way at once. It begins at twice the cores, which was best where it was measured, and
 * follows the latency, as TCP Vegas does: calls that take hardly longer than the best ones while others wait mean that
 * the runtime has room, and one more is let in; calls that take several times as long mean that they only wait inside
 * the runtime, and one fewer is. Never below 2 nor above four times the cores.
 */
export class TurnLimit {
  readonly #most: number;
  readonly #latencies = new Map<string, Latency>();
  #limit: number;

  constructor(cores: number) {
    this.#limit = Math.max(2, 2 * cores);
    this.#most = Math.max(2, 4 * cores);
  }

  get value(): number {
    return this.#limit;
  }

  /**
   * @param latencyMs how long one call of this kind took
   * @param wanted whether others waited for their turn at its end: only then does the number of turns matter
   */
  observe(kind: string, latencyMs: number, wanted: boolean): void {
    const latency = this.#latencies.get(kind) ?? { sum: 0, count: 0, best: Infinity };
    this.#latencies.set(kind, latency);
    latency.sum += latencyMs;
    latency.count += 1;
    if (latency.count < SAMPLE) return;
    const mean = latency.sum / latency.count;
    latency.best = Math.min(latency.best * FORGET, mean);
    latency.sum = 0;
    latency.count = 0;
    if (!wanted) return;
    if (mean > CROWDED * latency.best) this.#limit = Math.max(2, this.#limit - 1);
    else if (mean < ROOM * latency.best) this.#limit = Math.min(this.#most, this.#limit + 1);
  }
}
