import type { RecordedEvent } from '../../agent.types.ts';
import type { CoreEvent } from '../../kubernetes.types.ts';
import { rfc3339 } from '../../pod/policy/conditions.ts';

/** client-go tools/record/events_cache.go: defaults of the correlator. */
const SPAM_BURST = 25;
const SPAM_REFILL_MS = 300_000;
const SIMILAR_WINDOW_MS = 600_000;
const MAX_SIMILAR = 10;
/** Entries of each kind that are remembered, the latest used; above the recorder's queue, so that none waits in vain. */
const REMEMBERED = 2048;
/** Of an object's name, metadata.name. */
const MAX_NAME = 253;

/** A series of one event: what of it the API server has, and the newest count. */
export interface Series {
  event: CoreEvent;
  /** The API server has the event: a new count is a patch. */
  isWritten: boolean;
}

/** What is remembered of events. Values are replaced, never changed; the last used stand last. */
export interface Correlation {
  series: ReadonlyMap<string, Series>;
  /** Messages of similar events, by all else: many different ones become one event. */
  similar: ReadonlyMap<string, { messages: readonly string[]; at: number }>;
  /** What each object may still write. */
  budgets: ReadonlyMap<string, { tokens: number; at: number }>;
  /** Makes names differ within one millisecond. */
  sequence: number;
}

export const NO_EVENTS: Correlation = { series: new Map(), similar: new Map(), budgets: new Map(), sequence: 0 };

/**
 * Takes an event in, as client-go does (events_cache.go:EventCorrelate): the tenth different message of one reason within
 * ten minutes, and those after it, become one combined event; equal ones are counted; of one object at most 25 are
 * written at once, and one each five minutes after that. One that is not written is counted still.
 *
 * @param now wall clock, ms since the epoch
 * @returns the series that is to be written; undefined where the object has written too much
 */
export function correlateEvent(
  state: Correlation,
  recorded: RecordedEvent,
  { nodeName, now }: { nodeName: string; now: number },
): { state: Correlation; key: string | undefined } {
  const fresh = coreEvent(recorded, nodeName, now, state.sequence);
  const { kind, namespace = '', name = '', uid = '', fieldPath = '' } = fresh.involvedObject;
  const object = [kind, namespace, name, uid].join('\n');
  const alike = [object, fresh.type, fresh.reason].join('\n');

  const before = state.similar.get(alike);
  const recent = before && now - before.at <= SIMILAR_WINDOW_MS ? before.messages : [];
  const messages = recent.includes(recorded.message) ? recent : [...recent, recorded.message];
  const isCombined = messages.length >= MAX_SIMILAR;
  const key = isCombined ? alike : [alike, fieldPath, recorded.message].join('\n');
  const message = isCombined ? `(combined from similar events): ${recorded.message}` : recorded.message;

  const known = state.series.get(key);
  const event = known
    ? { ...known.event, message, count: (known.event.count ?? 0) + 1, lastTimestamp: rfc3339(now) }
    : { ...fresh, message };

  const { tokens, at } = state.budgets.get(object) ?? { tokens: SPAM_BURST, at: now };
  const refilled = Math.min(SPAM_BURST, tokens + Math.max(0, now - at) / SPAM_REFILL_MS);
  const isSpam = refilled < 1;
  return {
    state: {
      series: remembering(state.series, key, { event, isWritten: known?.isWritten ?? false }),
      similar: remembering(state.similar, alike, { messages: messages.slice(0, MAX_SIMILAR - 1), at: now }),
      budgets: remembering(state.budgets, object, { tokens: isSpam ? refilled : refilled - 1, at: now }),
      sequence: state.sequence + 1,
    },
    key: isSpam ? undefined : key,
  };
}

/** The series once the API server has it, or once it says that it has it no more. */
export function markWritten(state: Correlation, key: string | undefined, isWritten: boolean): Correlation {
  const known = key === undefined ? undefined : state.series.get(key);
  return key !== undefined && known
    ? { ...state, series: new Map(state.series).set(key, { ...known, isWritten }) }
    : state;
}

function remembering<T>(map: ReadonlyMap<string, T>, key: string, value: T): ReadonlyMap<string, T> {
  const next = new Map(map);
  next.delete(key);
  next.set(key, value);
  const [oldest] = next.keys();
  if (next.size > REMEMBERED && oldest !== undefined) next.delete(oldest);
  return next;
}

/** The event as it is created: of a pod, or of the node, whose events stand in `default` under its name as UID. */
function coreEvent(recorded: RecordedEvent, nodeName: string, now: number, sequence: number): CoreEvent {
  const { type, reason, message, pod, fieldPath } = recorded;
  const object = pod
    ? { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid }
    : { kind: 'Node', name: nodeName, uid: nodeName };
  const nanoseconds = BigInt(Math.trunc(now)) * 1_000_000n + BigInt(sequence % 1_000_000);
  const suffix = `.${nanoseconds.toString(16)}`;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: object.name.slice(0, MAX_NAME - suffix.length) + suffix,
      namespace: pod?.namespace ?? 'default',
    },
    involvedObject: { apiVersion: 'v1', ...object, ...(fieldPath && { fieldPath }) },
    type,
    reason,
    message,
    source: { component: 'kubelet', host: nodeName },
    reportingComponent: 'kubelet',
    reportingInstance: nodeName,
    firstTimestamp: rfc3339(now),
    lastTimestamp: rfc3339(now),
    count: 1,
  };
}
