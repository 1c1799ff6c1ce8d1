import type { ActorRefFrom } from 'xstate';
import type { PodRef } from '../pod/pod.types.ts';
import type { ObservedPod, RuntimeEvent, RuntimeListing } from '../runtime.types.ts';
import type { inspectionMachine } from './inspection.machine.ts';
import type { InspectionReport, PlegInput } from './pleg.types.ts';
import { diffListing, isKnown, isNewer, listedView, podOf, type KnownPod } from './policy/diff-listing.ts';
import type { PlegCounters } from './syncloop.types.ts';

/** Something was told of a pod or container that no listing has shown yet. */
interface Unlocated {
  event?: RuntimeEvent;
  uid?: string;
  /** Listings that did not show it; sets how long the next one is waited for. */
  tries: number;
}

export interface PlegContext extends PlegInput {
  counters: PlegCounters;
  stream: { open: boolean; kind?: string; message?: string };
  known: Record<string, KnownPod>;
  inspections: Record<string, ActorRefFrom<typeof inspectionMachine>>;
  /** Inspections spawned so far; makes their ids unique. */
  spawned: number;
  unlocated: Record<string, Unlocated>;
  /** Pods to be looked at now, with what was told of them. */
  requests: Record<string, RuntimeEvent[]>;
  /** A listing is wanted as soon as the one under way has ended. */
  listAgain: boolean;
  /** The listing under way is the auditor's: what it finds, the stream has missed. */
  auditing: boolean;
  /** Listings that failed in a row. */
  failures: number;
  /** Pods of the first listing that were not looked at yet; undefined before it. */
  unseen?: string[];
  /** A listing that the parent was not told of yet. */
  owed?: { at: number; uids: string[]; pods: PodRef[] };
}

/** Listings after which something that none of them shows is forgotten: it is not a pod's, or gone again. */
const MOST_TRIES = 5;
/**
 * What is made or started begins as if so many listings had been in vain: it is mostly the agent's own doing, of which the
 * pod learns from the call. An end or a request is urgent.
 */
const PATIENT_TRIES = 3;
/** Bound of what is remembered in a flood of unknown ids; a listing finds the rest by itself. */
const MOST_UNLOCATED = 1000;

export function initialContext(input: PlegInput): PlegContext {
  return {
    ...input,
    counters: { events: 0, listings: 0, inspections: 0, missedEvents: 0 },
    stream: { open: false },
    known: {},
    inspections: {},
    spawned: 0,
    unlocated: {},
    requests: {},
    listAgain: false,
    auditing: false,
    failures: 0,
  };
}

/** Fewest listings that anything unlocated has seen: the wait before the next listing grows with it. */
export const fewestTries = ({ unlocated }: PlegContext): number =>
  Math.min(MOST_TRIES, ...Object.values(unlocated).map(({ tries }) => tries));

const remember = (unlocated: PlegContext['unlocated'], key: string, entry: Omit<Unlocated, 'tries'>) => {
  if (unlocated[key] === undefined && Object.keys(unlocated).length >= MOST_UNLOCATED) return unlocated;
  const isPatient = entry.event?.kind === 'created' || entry.event?.kind === 'started';
  return { ...unlocated, [key]: { ...entry, tries: isPatient ? PATIENT_TRIES : 0 } };
};

/** A request for a look at a pod: done now where the pod is known, else after a listing that shows it. */
export function afterRequest(context: PlegContext, uid: string): Partial<PlegContext> {
  if (context.known[uid]) return { requests: { [uid]: [] } };
  return { requests: {}, unlocated: remember(context.unlocated, uid, { uid }) };
}

/**
 * An event of the stream: leads to a look at its pod, unless a look that began after it has shown it already. What is
 * deleted and was never known is nobody's concern.
 */
export function afterEvent(context: PlegContext, event: RuntimeEvent): Partial<PlegContext> {
  const counters = { ...context.counters, events: context.counters.events + 1 };
  const uid = uidOf(context, event);
  const known = uid === undefined ? undefined : context.known[uid];
  if (known) {
    const isNews = !isKnown(known, event, context.env.now());
    return { counters, requests: isNews ? { [known.pod.uid]: [event] } : {} };
  }
  if (event.kind === 'deleted') return { counters, requests: {} };
  return { counters, requests: {}, unlocated: remember(context.unlocated, event.containerId, { event, uid }) };
}

const uidOf = ({ known }: PlegContext, event: RuntimeEvent) => event.podUid ?? podOf(known, event.containerId);

/** A listing: which pods it shows to have changed, and where what was unlocated is. */
export function afterListing(context: PlegContext, listing: RuntimeListing): Partial<PlegContext> {
  const { known, changed } = diffListing(context.known, listing, context.env.now());
  const requests: Record<string, RuntimeEvent[]> = Object.fromEntries(changed.map((uid) => [uid, []]));
  for (const uid of dueForLook(context, listing)) requests[uid] ??= [];
  const unlocated: PlegContext['unlocated'] = {};
  for (const [key, entry] of Object.entries(context.unlocated)) {
    const uid = entry.uid ?? podOf(known, key);
    if (uid !== undefined && known[uid]) {
      requests[uid] = [...(requests[uid] ?? []), ...(entry.event ? [entry.event] : [])];
    } else if (entry.tries + 1 < MOST_TRIES) {
      unlocated[key] = { ...entry, tries: entry.tries + 1 };
    }
  }
  const missed = context.auditing ? changed.filter((uid) => !context.inspections[uid]).length : 0;
  const uids = listing.pods.map(({ uid }) => uid);
  return {
    known,
    requests,
    unlocated,
    counters: {
      ...context.counters,
      listings: context.counters.listings + 1,
      missedEvents: context.counters.missedEvents + missed,
    },
    auditing: false,
    failures: 0,
    unseen: context.unseen ?? uids,
    owed: {
      at: listing.at,
      uids,
      pods: listing.pods.map(({ uid, name, namespace }) => ({ uid, name, namespace })),
    },
  };
}

/**
 * Pods whose last full look is an audit period old. A listing is compared with what looks have shown; it cannot tell that
 * what a pod knows from its own call alone came and went between two looks.
 */
function dueForLook({ known, inspections, settings }: PlegContext, { at, pods }: RuntimeListing): string[] {
  const isDue = (uid: string) => at - (known[uid]?.observedAt ?? at) >= settings.auditPeriodMs;
  return pods.map(({ uid }) => uid).filter((uid) => inspections[uid] === undefined && isDue(uid));
}

/** Whether a look at the pod that began later has been passed on already (ARCHITECTURE rule 6). */
export const isOutdated = ({ known, env }: PlegContext, pod: ObservedPod): boolean =>
  isNewer(known[pod.uid]?.observedAt ?? 0, pod.at, env.now());

/** What an inspection said: the pod counts as looked at, whatever came out. */
export function afterInspection(context: PlegContext, report: InspectionReport): Partial<PlegContext> {
  const counters = { ...context.counters, inspections: context.counters.inspections + 1 };
  if (report.type !== 'inspection.observed') {
    const unseen = context.unseen?.filter((uid) => uid !== report.uid);
    return report.type === 'inspection.slow' ? { unseen } : { unseen, counters };
  }
  const { pod } = report;
  const unseen = context.unseen?.filter((uid) => uid !== pod.uid);
  const { [pod.uid]: before, ...others } = context.known;
  if (before && isOutdated(context, pod)) return { counters, unseen };
  // A listing that began after this look knows better what there is; it has asked for another look if it found more.
  if (before && isNewer(before.at, pod.at, context.env.now()))
    return { counters, unseen, known: { ...others, [pod.uid]: { ...before, observedAt: pod.at } } };
  if (pod.sandboxes.length + pod.containers.length === 0) return { counters, unseen, known: others };
  const after = { pod: listedView(pod), at: pod.at, observedAt: pod.at };
  return { counters, unseen, known: { ...others, [pod.uid]: after } };
}
