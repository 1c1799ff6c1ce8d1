/** Calls whose mean latency is one sample. */
const SAMPLE = 4;
/** Samples between two trials with one more turn, after one that brought nothing. */
const TRIAL_EVERY = 8;
/** One more turn is kept where this many times as many calls end in the same time. */
const WORTH = 1.1;
/** Weight of a new sample in what is known of a number of turns. */
const LEARN = 0.5;

/**
 * How many creations may be under way at once. It begins with the number of cores, so that the first pods of a burst run
 * soon, and grows by one as long as that ends more calls in the same time, up to four times the cores: where the runtime
 * has room, it is used; where calls only wait for each other, they are left to follow one another. One more is tried again
 * from time to time; a runtime that became slow gets fewer. Only the begin of sandboxes is measured: the dearest step, and
 * what a burst consists of.
 */
export class TurnLimit {
  readonly #least: number;
  readonly #most: number;
  #limit: number;
  #sum = 0;
  #count = 0;
  /** Calls that are still to end before the next sample: they began with another number of turns. */
  #passing = 0;
  /** Calls per ms, by the number of turns. */
  readonly #rate = new Map<number, number>();
  #untilTrial = 0;

  constructor(cores: number) {
    this.#least = Math.max(2, cores);
    this.#most = Math.max(2, 4 * cores);
    this.#limit = this.#least;
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
    if (this.#passing > 0) {
      this.#passing -= 1;
      return;
    }
    this.#sum += latencyMs;
    this.#count += 1;
    if (this.#count < SAMPLE) return;
    const step = this.#step(this.#limit / Math.max(1, this.#sum / this.#count));
    this.#sum = 0;
    this.#count = 0;
    if (step !== 0) this.#passing = this.#limit;
    this.#limit += step;
    // What was known of it may be of another time; only what comes now is compared with the fewer of just now.
    if (step > 0) this.#rate.delete(this.#limit);
  }

  #step(sample: number): -1 | 0 | 1 {
    const known = this.#rate.get(this.#limit) ?? sample;
    const rate = known + LEARN * (sample - known);
    this.#rate.set(this.#limit, rate);
    const before = this.#rate.get(this.#limit - 1);
    if (this.#limit > this.#least && before !== undefined && rate < WORTH * before) {
      this.#untilTrial = TRIAL_EVERY;
      return -1;
    }
    if (this.#untilTrial > 0) this.#untilTrial -= 1;
    else if (this.#limit < this.#most) return 1;
    return 0;
  }
}
