import { cancelled } from './errors.ts';

/** Turns that are handed out at a rate, first come first served. */
export interface RateLimit {
  /** @throws AgentError `CANCELLED` when given up before its turn */
  take(op: string, signal: AbortSignal | undefined): Promise<void>;
}

/** What passes time for the limit: the platform's monotonic clock and timers, or a test's. */
export interface RateClock {
  /** ms */
  now(): number;
  after(ms: number, run: () => void): void;
}

const PLATFORM: RateClock = {
  now: () => performance.now(),
  after: (ms, run) => void setTimeout(run, ms),
};

/**
 * A token bucket (client-go flowcontrol.NewTokenBucketRateLimiter): `burst` turns at once, refilled with `qps` a second.
 * As in client-go a rate of 0 is 5 and a burst of 0 is 10, and a negative rate is no limit.
 */
export function rateLimit({ qps, burst }: { qps: number; burst: number }, clock: RateClock = PLATFORM): RateLimit {
  if (qps < 0) return { take: () => Promise.resolve() };
  const [rate, size] = [qps || 5, burst || 10];
  const waiting = new Set<() => void>();
  let [tokens, filledAt, armed] = [size, clock.now(), false];

  const serve = () => {
    const now = clock.now();
    tokens = Math.min(size, tokens + ((now - filledAt) / 1000) * rate);
    filledAt = now;
    for (const grant of waiting) {
      if (tokens < 1) break;
      tokens -= 1;
      waiting.delete(grant);
      grant();
    }
    if (waiting.size === 0 || armed) return;
    armed = true;
    // A timer may fire a little early: half a token's worth too late costs nothing, an idle turn more does.
    clock.after(Math.ceil(((1 - tokens) / rate) * 1000), () => {
      armed = false;
      serve();
    });
  };

  return {
    take(op, signal) {
      if (signal?.aborted) return Promise.reject(cancelled(op));
      return new Promise((resolve, reject) => {
        const grant = () => {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        };
        const giveUp = () => {
          waiting.delete(grant);
          reject(cancelled(op));
        };
        signal?.addEventListener('abort', giveUp, { once: true });
        waiting.add(grant);
        serve();
      });
    },
  };
}
