/** Calls whose mean latency is one sample. */
const SAMPLE = 4;
/** Samples at the normal number of turns between two trials with one more. */
const TRIAL_EVERY = 8;
/** Calls that take this many times the normal latency only wait for each other: fewer turns are better. */
const CROWDED = 4;
/** Weight of a new sample in the normal latency. */
const LEARN = 0.25;

/**
 * How many creations may be under way at once. The normal number is twice the cores, which was best where it was
 * measured. From time to time one more is tried: where the runtime is busy, calls take longer in proportion and the
 * number goes back; where they hardly take longer, the runtime has room and the number grows on, to four times the
 * cores. Where calls take several times as long as they did (a slow disk, a machine with other work), it shrinks, down
 * to two. Only the begin of sandboxes is measured: the dearest step, and what a burst consists of.
 */
export class TurnLimit {
  readonly #normal: number;
  readonly #most: number;
  #limit: number;
  #sum = 0;
  #count = 0;
  /** Mean latency at the normal number of turns, ms. */
  #normalLatency: number | undefined;
  #untilTrial = TRIAL_EVERY;

  constructor(cores: number) {
    this.#normal = Math.max(2, 2 * cores);
    this.#most = Math.max(2, 4 * cores);
    this.#limit = this.#normal;
  }

  get value(): number {
    return this.#limit;
  }

  /**
   * One call has ended.
   *
   * @param wanted whether others waited for their turn: only then does the number of turns matter
   */
  observe(latencyMs: number, wanted: boolean): void {
    if (!wanted) return;
    this.#sum += latencyMs;
    this.#count += 1;
    if (this.#count < SAMPLE) return;
    const mean = this.#sum / this.#count;
    this.#sum = 0;
    this.#count = 0;
    this.#limit = Math.min(this.#most, Math.max(2, this.#limit + this.#step(mean)));
  }

  #step(mean: number): number {
    const usual = (this.#normalLatency ??= mean);
    if (mean > CROWDED * usual) return -1;
    if (this.#limit < this.#normal) return mean < (CROWDED / 2) * usual ? 1 : 0;
    if (this.#limit > this.#normal) {
      // What a runtime without room would need is in proportion to the turns; less than half of that growth is room.
      const growth = this.#limit / this.#normal - 1;
      return mean < usual * (1 + growth / 2) ? 1 : -1;
    }
    this.#normalLatency = usual + LEARN * (mean - usual);
    this.#untilTrial -= 1;
    if (this.#untilTrial > 0) return 0;
    this.#untilTrial = TRIAL_EVERY;
    return 1;
  }
}
