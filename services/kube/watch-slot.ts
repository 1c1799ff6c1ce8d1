import { fromCallback, type EventObject } from 'xstate';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { WatchSlot } from '../../machines/slot.types.ts';
import type { PodWatchEvent, WatchPodsEvent, WatchPodsInput } from '../../machines/syncloop/api-source.types.ts';
import type { Kube } from './client.ts';
import { watchPods } from './verbs/watch-pods.ts';

/**
 * Follows one watch: what comes within a turn of the event loop is told together, in the server's order, and its end after
 * all that came before it.
 *
 * @param random uniform in [0, 1)
 */
export function watchPodsSlot(kube: Kube, random: () => number): WatchSlot<WatchPodsInput> {
  return fromCallback<EventObject, WatchPodsInput>(({ input, sendBack }) => {
    const stopping = new AbortController();
    let batch: PodWatchEvent[] = [];
    const send = (event: WatchPodsEvent) => {
      if (!stopping.signal.aborted) sendBack(event);
    };
    const flush = () => {
      const events = batch;
      batch = [];
      if (events.length > 0) send({ type: 'watch.batch', events });
    };
    const add = (event: PodWatchEvent) => {
      if (batch.length === 0) setImmediate(flush);
      batch.push(event);
    };
    const over = (event: WatchPodsEvent) => {
      flush();
      send(event);
    };
    watchPods(kube, { ...input, random: random() }, add, stopping.signal).then(
      () => over({ type: 'watch.ended' }),
      (error: unknown) => {
        const { reason, message } = AgentError.from(error, 'watch pods');
        over(reason === 'Expired' ? { type: 'watch.expired' } : { type: 'watch.ended', message });
      },
    );
    return () => stopping.abort();
  });
}
