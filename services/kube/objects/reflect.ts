import { AgentError } from '../../../machines/agent-error.types.ts';
import { longSleep } from '../../timers.ts';
import { hasReason } from '../errors.ts';

/** Waits between failures, ms, doubling, up to twice as long by chance (client-go reflector, which begins with 800). */
const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 30_000;

/** Listing again at once would go on for ever. */
const NO_VERSION = new AgentError({
  op: 'list',
  reason: 'InvalidResponse',
  message: 'the list has no resourceVersion to go on from',
  transient: true,
});

/** How something of the API is followed. */
export interface Reflection {
  /** Lists all of it; answers the resourceVersion that a watch begins with. */
  list(signal: AbortSignal): Promise<string>;
  /** Tells each change and what version it made, until the server ends it. */
  watch(resourceVersion: string, heard: (resourceVersion: string) => void, signal: AbortSignal): Promise<void>;
  /** The API server does not answer, or refuses; what is known is no longer current. */
  lose(error: unknown): void;
  /** Nothing of it changes any more. */
  isFixed?(): boolean;
  /** Uniform in [0, 1). */
  random: () => number;
}

/** Lists, watches, and begins again after a failure, until it is given up. Never rejects. */
export async function reflect(of: Reflection, signal: AbortSignal): Promise<void> {
  const { list, watch, lose, isFixed = () => false, random } = of;
  let version = '';
  for (let failures = 0; !signal.aborted && !isFixed();) {
    const began = performance.now();
    try {
      if (version === '') {
        version = await list(signal);
        if (version === '') throw NO_VERSION;
        failures = 0;
        continue;
      }
      await watch(version, (heard) => (version = heard), signal);
      // One that is cut at once, again and again, must not be asked for without a pause.
      failures = performance.now() - began < FIRST_RETRY_MS ? failures + 1 : 0;
    } catch (error) {
      if (signal.aborted) return;
      version = '';
      failures += 1;
      if (!hasReason(error, 'Expired')) lose(error);
    }
    if (failures > 0) {
      const wait = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10));
      await longSleep(wait * (1 + random()), signal);
    }
  }
}
