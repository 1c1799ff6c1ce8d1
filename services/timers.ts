/** What sets timers, as XState's clock does. */
export interface Timers {
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** Longest delay that a timer of the platform takes, ms, about 24.8 days; one that is longer fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

const PLATFORM: Timers = {
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Timers of any length: one beyond the platform's longest is set again until its whole time has passed. */
export function longTimers(timers: Timers = PLATFORM): Timers {
  return {
    setTimeout(run, ms) {
      const whole: { part?: unknown } = {};
      const arm = (left: number) => {
        const rest = left - LONGEST_MS;
        whole.part = rest > 0 ? timers.setTimeout(() => arm(rest), LONGEST_MS) : timers.setTimeout(run, left);
      };
      arm(ms);
      return whole;
    },
    clearTimeout: (timer) => timers.clearTimeout((timer as { part?: unknown } | undefined)?.part),
  };
}

/** Resolves after any number of milliseconds, or as soon as it is given up. */
export function longSleep(ms: number, signal: AbortSignal): Promise<void> {
  const timers = longTimers();
  return new Promise((resolve) => {
    const timer = timers.setTimeout(() => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    }, ms);
    const giveUp = () => {
      timers.clearTimeout(timer);
      resolve();
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}
