import { fromCallback } from 'xstate';
import type { WatchSlot } from '../../machines/slot.types.ts';
import type { ObservedContainer, RuntimeEvent } from '../../machines/runtime.types.ts';
import type { WatchRuntimeEvent } from '../../machines/syncloop/syncloop.types.ts';
import type { Cri } from './client.ts';
import type { EventStream } from './event-streams.ts';
import { containerdEvents, criEvents } from './event-streams.ts';
import { isUnimplemented } from './errors.ts';
import type { OwnCalls } from './own-calls.ts';

const RETRY_BASE_MS = 100;
const RETRY_MAX_MS = 3_000;
/** A runtime that has no stream at all may be replaced by one that has. */
const RETRY_UNIMPLEMENTED_MS = 60_000;

/** What is remembered of the runtime's objects (services/cri/observe.ts). */
export interface RuntimeMemory {
  /** The pod of a container or sandbox; what belongs to no pod is not told of. */
  podUidOf(id: string): string | undefined;
  /** A container that was last seen running, as it is after this end; `undefined` where its record has to be awaited. */
  ended(event: RuntimeEvent): ObservedContainer | undefined;
  readonly own: Pick<OwnCalls, 'covers' | 'follow'>;
}

/**
 * Watches what happens in the runtime: by CRI's event stream where the runtime has one, else by containerd's own. Opens
 * it again, with back-off, when it breaks, and says so once. Of each container at most one event waits to be sent, the
 * newest: whoever is told of a container looks at its pod anyway. What the agent's own calls do is told by their answers
 * (`runtime.echo`), not by the events that follow from them.
 *
 * @param now wall clock, ms
 */
export function watchRuntime(cri: Cri, memory: RuntimeMemory, now: () => number): WatchSlot<Record<string, never>> {
  return fromCallback(({ sendBack }) => {
    const stopping = new AbortController();
    const outbox = new Map<string, RuntimeEvent>();
    const send = (event: WatchRuntimeEvent) => {
      if (!stopping.signal.aborted) sendBack(event);
    };
    const deliver = (event: RuntimeEvent) => {
      if (memory.own.covers(event, memory.podUidOf(event.containerId) !== undefined)) return;
      const container = memory.ended(event);
      if (container && event.podUid !== undefined) {
        // The event of the task's deletion follows, and with it the runtime's record: a look before it is in vain.
        send({ type: 'runtime.exited', uid: event.podUid, container });
        return;
      }
      if (outbox.size === 0) setImmediate(flush);
      outbox.set(event.containerId, event);
    };
    const flush = () => {
      const events = [...outbox.values()];
      outbox.clear();
      for (const event of events) send({ type: 'runtime.event', event });
    };
    const streams = [criEvents(cri, now), containerdEvents(cri, (id) => memory.podUidOf(id), now)];
    const unfollow = memory.own.follow((echo) => send({ type: 'runtime.echo', echo }));
    void keepOpen(streams, { send, deliver, signal: stopping.signal });
    return () => {
      stopping.abort();
      unfollow();
      outbox.clear();
    };
  });
}

interface Watch {
  send: (event: WatchRuntimeEvent) => void;
  deliver: (event: RuntimeEvent) => void;
  signal: AbortSignal;
}

/** Opens the first stream that the runtime has, as often as it ends, until the signal. */
async function keepOpen(streams: readonly EventStream[], { send, deliver, signal }: Watch): Promise<void> {
  let failures = 0;
  let told = false;
  while (!signal.aborted) {
    let lost: unknown;
    for (const { kind, follow } of streams) {
      const opened = () => {
        failures = 0;
        told = false;
        send({ type: 'stream.opened', kind });
      };
      lost = await follow({ opened, deliver, signal });
      if (!isUnimplemented(lost)) break;
    }
    if (!told)
      send({ type: 'stream.lost', message: lost instanceof Error ? lost.message : 'the runtime ended the stream' });
    told = true;
    const delay = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** Math.min(failures, 10));
    failures += 1;
    await wait(isUnimplemented(lost) ? RETRY_UNIMPLEMENTED_MS : delay, signal);
  }
}

function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
