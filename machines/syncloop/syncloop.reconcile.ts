import type { RecordedEvent } from '../agent.types.ts';
import type { DesiredPod } from '../kubernetes.types.ts';
import { judgedAgainAfter, PREEMPTED } from '../pod/policy/admit/refusal.ts';
import type { PodEvent, PodInput } from '../pod/pod.types.ts';
import type { ObservedPod } from '../runtime.types.ts';
import { admitAdditions } from './policy/admit-additions.ts';
import { goingOn, mirroredOf, stillMirrored } from './policy/mirrored-status.ts';
import { passName } from './policy/pass-name.ts';
import { reconcilePods } from './policy/reconcile-pods.ts';
import { endsThatCount, knownPods, stillMourned, without, type SyncloopContext } from './syncloop.context.ts';
import type { PodEntry } from './syncloop.types.ts';

/** ms */
const SOON = 1000;

/** What is to be done so that the pod actors are those that are desired and observed; applied in this order. */
export interface Reconciled {
  changes: Partial<Pick<SyncloopContext, 'entries' | 'ended' | 'refusals' | 'looks' | 'mourned' | 'mirrors'>>;
  told: { uid: string; event: PodEvent }[];
  spawns: Omit<PodInput, 'parent'>[];
  events: RecordedEvent[];
  /** Pods that were not taken in and are judged again, and after how long, ms. */
  judgeAgain: { uid: string; delayMs: number }[];
  /** The Node has to be read afresh before some pods can be judged. */
  look: boolean;
  /** For housekeeping; undefined while absence cannot be judged. */
  keep?: string[];
}

export const sourcesReady = ({ sources, delivered, listedAt }: SyncloopContext): boolean =>
  listedAt !== undefined && sources.length > 0 && sources.every(({ source }) => delivered.includes(source));

/** Whether every static pod has begun, or was judged. */
export const haveEntries = (
  { desired: { file = [], http = [] } }: SyncloopContext,
  entries: SyncloopContext['entries'],
) => [...file, ...http].every(({ metadata }) => metadata.uid in entries);

/** Compares what is desired and observed with the pods that have an entry. */
export function reconcile(context: SyncloopContext): Reconciled {
  const ready = sourcesReady(context);
  const plan = reconcilePods({ ...context, sourcesReady: ready });
  // While the runtime is unhealthy nothing new begins; what is no longer wanted is told so at once, and starts nothing more.
  const isPaused = context.health === 'unhealthy';
  const result: Reconciled = { changes: {}, told: [], spawns: [], events: [], judgeAgain: [], look: false };
  let { entries, refusals } = context;
  const tell = (uid: string, event: PodEvent) => void result.told.push({ uid, event });
  const spawn = (entry: PodEntry, pod: DesiredPod | undefined, observed: ObservedPod, predecessorUid?: string) => {
    entries = { ...entries, [entry.uid]: entry };
    const { uid, name, namespace } = entry;
    result.spawns.push({
      env: context.env,
      pod,
      uid,
      name,
      namespace,
      observed,
      keptStops: context.stops[uid],
      // Of a pod that was followed by this agent, its last status knows more.
      keptVerdicts: context.mourned[uid] ? undefined : context.verdicts[uid],
      predecessorUid,
      networkReady: context.health === 'healthy' || context.health === 'unknown',
      settings: { ...context.settings.pod, hostIPs: context.hostIPs, runtimeName: context.runtimeName },
    });
  };

  for (const uid of plan.remove) {
    const { again: _dropped, ...entry } = entries[uid] as PodEntry;
    entries = entry.refused ? without(entries, uid) : { ...entries, [uid]: { ...entry, ending: true } };
    refusals = without(refusals, uid);
    tell(uid, { type: 'pod.removed' });
  }
  for (const { uid, pod, source } of plan.update) {
    entries = { ...entries, [uid]: { ...(entries[uid] as PodEntry), pod, source } };
    tell(uid, { type: 'pod.desired', pod });
  }
  for (const { uid, pod, mirrored } of goingOn(context.mirrors, entries))
    tell(uid, { type: 'pod.desired', pod: { ...pod, status: mirrored } });
  const additions = (isPaused ? [] : plan.add).map((addition) => {
    const status = context.mourned[addition.uid]?.status ?? mirroredOf(context.mirrors, addition);
    return status ? { ...addition, pod: { ...addition.pod, status } } : addition;
  });
  const looks = context.settings.cluster && context.looks;
  const known = knownPods({ ...context, entries });
  const judged = admitAdditions(additions, { ...context, entries: known, looks }, context.env.now());
  result.look = judged.look.some((uid) => !context.looks[uid]);
  for (const uid of judged.later) result.judgeAgain.push({ uid, delayMs: SOON });
  for (const uid of judged.preempt) {
    const entry = entries[uid];
    if (!entry) continue;
    entries = { ...entries, [uid]: { ...entry, preempted: true } };
    tell(uid, { type: 'pod.terminate', request: { failed: PREEMPTED } });
    const { name, namespace } = entry;
    result.events.push({
      type: 'Warning',
      reason: PREEMPTED.reason,
      message: PREEMPTED.message,
      pod: { uid, name, namespace },
    });
  }
  for (const { uid, pod, source, status, event } of judged.refuse) {
    const { name, namespace } = pod.metadata;
    const times = (refusals[uid] ?? 0) + 1;
    refusals = { ...refusals, [uid]: times };
    entries = {
      ...entries,
      [uid]: { uid, name, namespace, source, pod, status, ending: false, released: true, refused: true },
    };
    result.events.push(event);
    const delayMs = judgedAgainAfter(pod, times);
    if (delayMs !== undefined) result.judgeAgain.push({ uid, delayMs });
  }
  for (const { uid, pod, source, predecessorUid, again, ending = false } of judged.take) {
    const { name, namespace } = pod.metadata;
    if (again) entries = { ...entries, [uid]: { ...(entries[uid] as PodEntry), again: { pod, source } } };
    else {
      const status = context.ended[uid] ?? context.mourned[uid]?.status;
      const nothing = { uid, name, namespace, sandboxes: [], containers: [], at: context.listedAt ?? 0 };
      const entry = {
        ...{ uid, name, namespace, source, pod, status, ending },
        released: false,
        waitsFor: predecessorUid,
        ...(ending && { again: { pod, source } }),
      };
      spawn(entry, status ? { ...pod, status } : pod, context.observed[uid] ?? nothing, predecessorUid);
    }
  }
  for (const { uid, observed } of isPaused ? [] : plan.orphans) {
    const { name, namespace } = observed;
    spawn({ uid, name, namespace, ending: true, released: false }, undefined, observed);
  }
  for (const uid of plan.freed) {
    const passed = passName(entries, uid);
    ({ entries } = passed);
    if (passed.next !== undefined) tell(passed.next, { type: 'predecessor.gone' });
  }

  if (entries !== context.entries) result.changes.entries = entries;
  if (refusals !== context.refusals) result.changes.refusals = refusals;
  result.changes.looks = Object.fromEntries(judged.look.map((uid) => [uid, context.looks[uid] ?? 'asked']));
  result.changes.mourned = stillMourned(context, entries);
  result.changes.mirrors = stillMirrored(context, entries, ready);
  if (ready) {
    result.changes.ended = endsThatCount(context, entries);
    const seen = [...Object.keys(context.observed), ...context.listed.map(({ uid }) => uid)];
    result.keep = [...new Set([...Object.keys(known), ...seen, ...Object.keys(entries)])];
  }
  return result;
}
