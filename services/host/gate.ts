/**
 * Lets few pieces of work run at a time, those of a later stage first and within a stage the one that asked first. When
 * a hundred pods come at once, the first of them is ready before the last has begun, not all of them at the end.
 */
export class Gate {
  readonly #limit: number;
  readonly #waiting: { stage: number; begin: () => void }[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(stage: number, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) {
      const turn = Promise.withResolvers<void>();
      this.#waiting.push({ stage, begin: turn.resolve });
      await turn.promise;
    } else this.#running++;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** Hands the place on to the next that waits, or gives it up. */
  #next(): void {
    const latest = Math.max(...this.#waiting.map(({ stage }) => stage));
    const [next] = this.#waiting.splice(
      this.#waiting.findIndex(({ stage }) => stage === latest),
      this.#waiting.length ? 1 : 0,
    );
    if (next) next.begin();
    else this.#running--;
  }
}
