/** What is known of a request before it is answered. */
export interface Asked {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  verb: string;
  /** Plural with subresource: `pods`, `pods/status`. */
  resource: string;
  username: string;
  path: string;
}

/** A fault that is switched on. What is left out matches everything. */
export interface Fault {
  verbs?: readonly string[];
  resources?: readonly string[];
  username?: string;
  /** Only each nth matching request, counted from the first; 1 when left out. */
  every?: number;
  /** How often it strikes before it is spent; for ever when left out. */
  times?: number;
  /** ms before the request is looked at. */
  delayMs?: number;
  /** The answer, in place of what would have been done. */
  status?: { code: number; reason: string; message?: string; retryAfterSeconds?: number };
  /** The connection ends without an answer: before anything is done, or after it was done. */
  drop?: 'before' | 'after';
}

/** Faults of an API server: rules on requests, the clock's skew. Cuts and outages are the server's own methods. */
export class Faults {
  /** Added to the host's clock, ms. */
  skewMs = 0;
  #active: { fault: Fault; seen: number; struck: number }[] = [];

  /** Switches a fault on; the answer switches it off, and tells how often it has struck. */
  add(fault: Fault): () => number {
    const entry = { fault, seen: 0, struck: 0 };
    this.#active.push(entry);
    return () => {
      this.#active = this.#active.filter((other) => other !== entry);
      return entry.struck;
    };
  }

  clear(): void {
    this.#active = [];
    this.skewMs = 0;
  }

  /** The faults that strike this request. */
  strike(asked: Asked): Fault[] {
    return this.#active.flatMap((entry) => {
      const { fault } = entry;
      const fits =
        (fault.verbs?.includes(asked.verb) ?? true) &&
        (fault.resources?.includes(asked.resource) ?? true) &&
        (fault.username ?? asked.username) === asked.username;
      if (!fits || entry.struck >= (fault.times ?? Infinity)) return [];
      entry.seen += 1;
      if (entry.seen % (fault.every ?? 1) !== 0) return [];
      entry.struck += 1;
      return [fault];
    });
  }
}
