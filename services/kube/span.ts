import type { AgentError } from '../../machines/agent-error.types.ts';
import { cancelled, tooLate } from './errors.ts';

/** A call's life: ended from outside (`CANCELLED`) or by its deadline. */
export function beginSpan(op: string, outer: (AbortSignal | undefined)[]) {
  const inner = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const cancel = () => inner.abort(cancelled(op));
  const cut = new Promise<never>((_resolve, reject) => {
    inner.signal.addEventListener('abort', () => reject(inner.signal.reason as AgentError), { once: true });
  });
  // Also where nobody waits for it any more.
  cut.catch(() => undefined);
  for (const signal of outer) {
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
  }
  return {
    signal: inner.signal,
    cut,
    /** From now on it is not ended by this one. */
    ignore: (signal: AbortSignal | undefined) => signal?.removeEventListener('abort', cancel),
    /** Ends it after so long from now, ms, in place of an earlier limit. */
    limit(ms: number, server: string) {
      clearTimeout(timer);
      timer = setTimeout(() => inner.abort(tooLate(op, server, ms)), ms);
    },
    end() {
      clearTimeout(timer);
      for (const signal of outer) signal?.removeEventListener('abort', cancel);
    },
  };
}
