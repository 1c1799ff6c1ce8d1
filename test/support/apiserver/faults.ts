/** What is known of a request before it is answered. */
export interface Asked {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  verb: string;
  /** Plural with subresource: `pods`, `pods/status`. */
  resource: string;
  username: string;
  path: string;
}

/** An answer in place of what would have been done. */
interface Refusal {
  code: number;
  reason: string;
  message?: string;
  retryAfterSeconds?: number;
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
  /** The answer; of several, each request that is struck gets the next. */
  status?: Refusal | readonly Refusal[];
  /** The connection ends without an answer: before anything is done, or after it was done. */
  drop?: 'before' | 'after';
}

/** A fault as it strikes one request. */
export type Struck = Omit<Fault, 'status'> & { status?: Refusal };

/** Faults of an API server: rules on requests, the clock's skew. Cuts and outages are the server's own methods. */
export class Faults {
  /** Added to the host's clock, ms. */
  skewMs = 0;
  #active: { fault: Fault; seen: number; struck: number }[] = [];

  /** Switches a fault on; the answer switches it off, and tells how often it has struck, as its `struck` does before. */
  add(fault: Fault): (() => number) & { struck: () => number } {
    const entry = { fault, seen: 0, struck: 0 };
    this.#active.push(entry);
    const off = () => {
      this.#active = this.#active.filter((other) => other !== entry);
      return entry.struck;
    };
    return Object.assign(off, { struck: () => entry.struck });
  }

  clear(): void {
    this.#active = [];
    this.skewMs = 0;
  }

  /** The faults that strike this request. */
  strike(asked: Asked): Struck[] {
    return this.#active.flatMap((entry) => {
      const { fault } = entry;
      const fits =
        (fault.verbs?.includes(asked.verb) ?? true) &&
        (fault.resources?.includes(asked.resource) ?? true) &&
        (fault.username ?? asked.username) === asked.username;
      if (!fits || entry.struck >= (fault.times ?? Infinity)) return [];
      entry.seen += 1;
      if (entry.seen % (fault.every ?? 1) !== 0) return [];
      const { status } = fault;
      const next = Array.isArray(status) ? (status as Refusal[])[entry.struck % status.length] : (status as Refusal);
      entry.struck += 1;
      return [{ ...fault, status: next }];
    });
  }
}
