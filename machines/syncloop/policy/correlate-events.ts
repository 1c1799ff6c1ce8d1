import type { RecordedEvent } from '../../agent.types.ts';
import type { CoreEvent } from '../../kubernetes.types.ts';
import { rfc3339 } from '../../pod/policy/conditions.ts';

/** client-go tools/record/events_cache.go: defaults of the correlator. */
const SPAM_BURST = 25;
const SPAM_REFILL_MS = 300_000;
const SIMILAR_WINDOW_MS = 600_000;
const MAX_SIMILAR = 10;
/** Objects that are remembered, the last told of: more than series wait in the recorder's queue, so that none waits in vain. */
const MAX_OBJECTS = 1100;
/** Series that are remembered of one object, the last used. */
const MAX_SERIES = 50;
/** Of an object's name, metadata.name. */
const MAX_NAME = 253;
/** Between an object and a series of it in a key; in no name. */
const OF = '\0';

/** A series of one event: its newest count, and whether the API server has it. */
export interface Series {
  event: CoreEvent;
  /** The API server has the event: a new count is a patch. */
  isWritten: boolean;
}

interface ObjectEvents {
  series: ReadonlyMap<string, Series>;
  /** Messages of similar events, by all else: many different ones become one event. */
  similar: Readonly<Record<string, { messages: readonly string[]; at: number }>>;
  /** What may still be written, and when that was reckoned. */
  budget: { tokens: number; at: number };
}

/** What is remembered of events. Values are replaced, never changed; the last used stand last. */
export interface Correlation {
  objects: ReadonlyMap<string, ObjectEvents>;
  /** Makes names differ within one millisecond. */
  sequence: number;
}

export const NO_EVENTS: Correlation = { objects: new Map(), sequence: 0 };

/**
 * Takes an event in, as client-go does (events_cache.go:EventCorrelate): the tenth different message of one reason within
 * ten minutes, and those after it, become one combined event; equal ones are counted; of one object at most 25 are
 * written at once, and one each five minutes after that. One that is not written is counted still.
 *
 * @param now wall clock, ms since the epoch
 * @returns the key of the series that is to be written; undefined where the object has written too much
 */
export function correlateEvent(
  state: Correlation,
  recorded: RecordedEvent,
  { nodeName, now }: { nodeName: string; now: number },
): { state: Correlation; key: string | undefined } {
  const { type, reason, pod, fieldPath = '' } = recorded;
  const name = pod ? `${pod.namespace}/${pod.name}/${pod.uid}` : nodeName;
  const object: ObjectEvents = state.objects.get(name) ?? {
    series: new Map(),
    similar: {},
    budget: { tokens: SPAM_BURST, at: now },
  };

  const alike = `${type} ${reason}`;
  const before = object.similar[alike];
  const recent = before && now - before.at <= SIMILAR_WINDOW_MS ? before.messages : [];
  const messages = recent.includes(recorded.message) ? recent : [...recent, recorded.message];
  const isCombined = messages.length >= MAX_SIMILAR;
  const id = isCombined ? alike : `${alike} ${fieldPath} ${recorded.message}`;
  const message = isCombined ? `(combined from similar events): ${recorded.message}` : recorded.message;

  const known = object.series.get(id);
  const event: CoreEvent = known
    ? { ...known.event, message, count: (known.event.count ?? 0) + 1, lastTimestamp: rfc3339(now) }
    : { ...coreEvent(recorded, nodeName, now, state.sequence), message };

  const tokens = Math.min(SPAM_BURST, object.budget.tokens + Math.max(0, now - object.budget.at) / SPAM_REFILL_MS);
  const isSpam = tokens < 1;
  const next: ObjectEvents = {
    series: remembering(object.series, id, { event, isWritten: known?.isWritten ?? false }, MAX_SERIES),
    similar: { ...object.similar, [alike]: { messages: messages.slice(0, MAX_SIMILAR - 1), at: now } },
    budget: { tokens: isSpam ? tokens : tokens - 1, at: now },
  };
  return {
    state: { objects: remembering(state.objects, name, next, MAX_OBJECTS), sequence: state.sequence + 1 },
    key: isSpam ? undefined : name + OF + id,
  };
}

/** The series of a key; undefined where it is remembered no more. */
export function seriesOf({ objects }: Correlation, key: string): Series | undefined {
  const { name, id } = parts(key);
  return objects.get(name)?.series.get(id);
}

/** The series once the API server has it, or once it says that it has it no more. */
export function markWritten(state: Correlation, key: string, isWritten: boolean): Correlation {
  const { name, id } = parts(key);
  const object = state.objects.get(name);
  const series = object?.series.get(id);
  if (!object || !series) return state;
  const marked = { ...object, series: new Map(object.series).set(id, { ...series, isWritten }) };
  return { ...state, objects: new Map(state.objects).set(name, marked) };
}

function parts(key: string): { name: string; id: string } {
  const at = key.indexOf(OF);
  return { name: key.slice(0, at), id: key.slice(at + 1) };
}

function remembering<T>(map: ReadonlyMap<string, T>, key: string, value: T, max: number): ReadonlyMap<string, T> {
  const next = new Map(map);
  next.delete(key);
  next.set(key, value);
  const [oldest] = next.keys();
  if (next.size > max && oldest !== undefined) next.delete(oldest);
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
