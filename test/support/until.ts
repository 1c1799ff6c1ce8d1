import { setTimeout as sleep } from 'node:timers/promises';

/** Longest wait of a test for something that is to happen, ms. Never what is measured. */
const PATIENCE_MS = 25_000;

/**
 * The first value of `look` that is neither undefined nor false. What it throws, or the text of `told`, says what was
 * there instead when patience ends.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  { patienceMs = PATIENCE_MS, told = () => '' }: { patienceMs?: number; told?: () => string | Promise<string> } = {},
): Promise<T> {
  const end = performance.now() + patienceMs;
  let reason: unknown = '';
  do {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      reason = error;
    }
    await sleep(40);
  } while (performance.now() < end);
  throw new Error(`not in ${patienceMs / 1000} s: ${what}\n${String(reason)}\n${await told()}`);
}

/** Looks again and again for `ms` and throws at the first look that is not so: that nothing happens can only be waited for. */
export async function stays(what: string, ms: number, look: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(50))
    if (!(await look())) throw new Error(`no longer so: ${what}`);
}
