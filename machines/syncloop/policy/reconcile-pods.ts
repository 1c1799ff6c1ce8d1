import type { DesiredPod } from '../../kubernetes.types.ts';
import type { KeptStops } from '../../pod/container.types.ts';
import { removalBegan } from '../../pod/policy/kept-stop.ts';
import { anyRunning } from '../../pod/policy/pod-view.ts';
import { sameJson } from '../../pod/policy/same-json.ts';
import type { PodRef } from '../../pod/pod.types.ts';
import type { ObservedPod } from '../../runtime.types.ts';
import type { PodEntry, SourceName } from '../syncloop.types.ts';

export interface ReconcileInput {
  entries: Readonly<Record<string, PodEntry>>;
  /** Last whole answer of each source that has delivered. */
  desired: Readonly<Partial<Record<SourceName, DesiredPod[]>>>;
  observed: Readonly<Record<string, ObservedPod>>;
  /** Stops that an earlier agent began, by pod UID. */
  stops?: Readonly<Record<string, KeptStops>>;
  /** Pods that the last listing had; those without an observation are not to be judged yet, but hold their names. */
  listed: readonly PodRef[];
  /** Every configured source delivered and the runtime was listed: absence may be judged (ARCHITECTURE rule 8). */
  sourcesReady: boolean;
}

/** What has to be done to the set of pod actors, in this order. */
export interface ReconcilePlan {
  /** Gone from every source. */
  remove: string[];
  /** Changed at their source: spec, labels, annotations, deletion (config.go:checkAndUpdatePod). */
  update: { uid: string; pod: DesiredPod; source: SourceName }[];
  /**
   * New, or come again under the UID of one that is ending (`again`). `ending`: an earlier agent had begun to remove it; that
   * end comes first.
   */
  add: {
    uid: string;
    pod: DesiredPod;
    source: SourceName;
    predecessorUid?: string;
    again: boolean;
    ending?: boolean;
  }[];
  /** Gone without a word, while others wait for their names: nothing knows them any more. */
  freed: string[];
  /** Only the runtime knows them. */
  orphans: { uid: string; observed: ObservedPod }[];
}

/** `<name>_<namespace>` (container/runtime.go:BuildPodFullName): the key under which two pods exclude one another. */
const fullName = (pod: { name: string; namespace: string }): string => `${pod.name}_${pod.namespace}`;

/** Times of delivery are the agent's own; a pod delivered again unchanged is no update (config.go:isLocalAnnotationKey). */
const LOCAL_ANNOTATIONS = ['kubernetes.io/config.seen', 'kubernetes.io/config.source', 'kubernetes.io/config.mirror'];

/** What others have said of the pod's readiness gates, which its Ready follows (kubelet.go:HandlePodReconcile). */
function gatesOf({ spec, status }: DesiredPod): (string | undefined)[] {
  return (spec.readinessGates ?? []).map(
    ({ conditionType }) => status?.conditions?.find(({ type }) => type === conditionType)?.status,
  );
}

function samePod(a: DesiredPod, b: DesiredPod): boolean {
  const shown = (pod: DesiredPod) => ({
    spec: pod.spec,
    gates: gatesOf(pod),
    metadata: {
      ...pod.metadata,
      annotations: Object.fromEntries(
        Object.entries(pod.metadata.annotations ?? {}).filter(([key]) => !LOCAL_ANNOTATIONS.includes(key)),
      ),
    },
  });
  return a === b || sameJson(shown(a), shown(b));
}

/** Its containers go on in any case: no other pod of its name can have come before it. */
const runs = (o: ObservedPod | undefined) => o !== undefined && anyRunning(o);
const nothing = (o: ObservedPod) => o.sandboxes.length === 0 && o.containers.length === 0;

/**
 * Compares what the sources want with the pods that have an entry. Adding waits for no source; orphans wait for all of
 * them, but for one that holds a static pod's name. A source that gave a pod in this life and gives it no more has spoken
 * for itself: an API server that is away holds up no manifest (docs/adr/0011). A new pod whose name another pod still holds (an entry not yet released, or a pod of the runtime) waits for it; where
 * nobody could look at that one yet, it is not added before.
 */
export function reconcilePods(input: ReconcileInput): ReconcilePlan {
  const plan: ReconcilePlan = { remove: [], update: [], add: [], freed: [], orphans: [] };
  const wanted = new Map<string, { pod: DesiredPod; source: SourceName }>();
  for (const source of ['file', 'http', 'api'] as const)
    for (const pod of input.desired[source] ?? [])
      if (!wanted.has(pod.metadata.uid)) wanted.set(pod.metadata.uid, { pod, source });

  // Another pod under its UID (two manifests may say the same one, and the first may go): not this one changed.
  const isReplaced = ({ uid, name, namespace }: PodEntry) => {
    const next = wanted.get(uid)?.pod.metadata;
    return next !== undefined && fullName(next) !== fullName({ name, namespace });
  };
  for (const entry of Object.values(input.entries)) {
    const { uid, pod, source, ending, again } = entry;
    if (isReplaced(entry) && pod && !ending) plan.remove.push(uid);
    if (wanted.has(uid)) continue;
    const tookBack = (from: SourceName | undefined) => from !== undefined && input.desired[from] !== undefined;
    if (pod && !ending && (input.sourcesReady || tookBack(source))) plan.remove.push(uid);
    if (again && (input.sourcesReady || tookBack(again.source))) plan.remove.push(uid);
  }

  const awaited = new Set(Object.values(input.entries).flatMap(({ waitsFor }) => waitsFor ?? []));
  const unseen = new Set(input.listed.filter(({ uid }) => !input.observed[uid] && !input.entries[uid]).map(fullName));
  const holders = new Map<string, string>();
  for (const o of Object.values(input.observed))
    if (!nothing(o) && !input.entries[o.uid]) holders.set(fullName(o), o.uid);
  for (const e of Object.values(input.entries)) if (!e.released) holders.set(fullName(e), e.uid);

  for (const [uid, { pod, source }] of wanted) {
    const entry = input.entries[uid];
    if (entry && (entry.ending || (entry.pod && isReplaced(entry)))) {
      if (!entry.again && !entry.refused) plan.add.push({ uid, pod, source, again: true });
    } else if (entry?.pod) {
      if (!samePod(entry.pod, pod)) plan.update.push({ uid, pod, source });
    } else if (runs(input.observed[uid]) || !unseen.has(fullName(pod.metadata))) {
      const holder = holders.get(fullName(pod.metadata));
      // One that others wait for held the name before them: its actor failed and is made again.
      const predecessorUid = holder !== uid && !awaited.has(uid) ? holder : undefined;
      holders.set(fullName(pod.metadata), uid);
      const ending = removalBegan(input.stops?.[uid], input.observed[uid]);
      plan.add.push({ uid, pod, source, predecessorUid, again: false, ...(ending && { ending }) });
    }
  }

  const known = new Set([
    ...Object.keys(input.entries),
    ...Object.keys(input.observed),
    ...input.listed.map((p) => p.uid),
  ]);
  for (const uid of awaited) if (!known.has(uid) && !wanted.has(uid)) plan.freed.push(uid);

  const claimed = new Set(
    [...wanted.values()].flatMap(({ pod, source }) => (source === 'api' ? [] : fullName(pod.metadata))),
  );
  for (const observed of Object.values(input.observed))
    if (!input.entries[observed.uid] && !wanted.has(observed.uid) && !nothing(observed))
      if (input.sourcesReady || claimed.has(fullName(observed))) plan.orphans.push({ uid: observed.uid, observed });
  return plan;
}
