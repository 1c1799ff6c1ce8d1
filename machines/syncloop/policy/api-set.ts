import type { RecordedEvent } from '../../agent.types.ts';
import type { DesiredPod, Pod, PodStatus } from '../../kubernetes.types.ts';
import { CONFIG_HASH_ANNOTATION, CONFIG_SEEN_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from '../../pod/policy/names.ts';
import { sameJson } from '../../pod/policy/same-json.ts';
import type { ApiPod, PodWatchEvent } from '../api-source.types.ts';
import type { SourceSet } from '../syncloop.types.ts';
import { asApiPod } from './api-pod.ts';
import { fieldProblems, type Plain } from './check-fields.ts';
import { isForeignCondition, isTerminal } from './merge-status.ts';
import { POD } from './supported-fields.ts';
import { podProblems } from './validate-pod.ts';

/** One pod of the API. A mirror pod has nothing but its object. */
interface ApiEntry {
  api: ApiPod;
  /** What the API asks for, in the newest version that differs in anything that the agent obeys. */
  asked?: DesiredPod;
  /** What is delivered of it; undefined where it is refused. */
  desired?: DesiredPod;
  /** Why it cannot be obeyed. */
  problem?: string;
  /** As an earlier agent kept it: how it was then is not how the API has it. */
  recalled?: true;
}

/** The API's pods of this node by UID, in the order in which they came. */
export type ApiSet = ReadonlyMap<string, ApiEntry>;

/** Said of a problem behind which a pod runs. */
const GOES_ON = ' (what runs of it goes on)';

/** The set after a listing. What did not change stays the same object. @param seen RFC 3339, of pods that are new */
export function afterList(before: ApiSet, items: readonly Pod[], seen: string): ApiSet {
  return new Map(items.map((pod) => [uidOf(pod), entryOf(before.get(uidOf(pod)), pod, seen)]));
}

/** The set after what a watch told. */
export function afterWatch(before: ApiSet, events: readonly PodWatchEvent[], seen: string): ApiSet {
  const set = new Map(before);
  for (const { type, object } of events) {
    const uid = uidOf(object);
    if (type === 'DELETED') set.delete(uid);
    else if (type !== 'BOOKMARK') set.set(uid, entryOf(set.get(uid), object, seen));
  }
  return set;
}

/** Pods that an earlier agent kept: they keep the time when that one first saw them. */
export function afterRecall(pods: readonly Pod[], seen: string): ApiSet {
  const seenAt = ({ metadata }: Pod) => metadata?.annotations?.[CONFIG_SEEN_ANNOTATION] ?? seen;
  return new Map(pods.map((pod) => [uidOf(pod), { ...entryOf(undefined, pod, seenAt(pod)), recalled: true }]));
}

/** What a set comes to. */
export function outcomeOf(set: ApiSet): {
  pods: DesiredPod[];
  apiPods: ApiPod[];
  problems: SourceSet['problems'];
  events: RecordedEvent[];
} {
  const entries = [...set.values()];
  const bad = entries.flatMap(({ api: { uid, namespace, name }, problem }) =>
    problem === undefined ? [] : [{ uid, namespace, name, message: `${namespace}/${name}: ${problem}` }],
  );
  return {
    pods: entries.flatMap(({ desired }) => desired ?? []),
    apiPods: entries.map(({ api }) => api),
    problems: bad.map(({ namespace, name, message }) => ({ origin: `api ${namespace}/${name}`, message })),
    events: bad.map(({ message, ...pod }) => ({ type: 'Warning', reason: 'FailedValidation', message, pod })),
  };
}

/** What mirror pods say of static pods, by config.hash; one that tells of an end is no place to go on from. */
export function mirroredOf(set: ApiSet): Record<string, PodStatus> {
  const told = ({ api: { mirrorHash, status, deletionTimestamp } }: ApiEntry): [string, PodStatus][] =>
    mirrorHash !== undefined && status && !deletionTimestamp && !isTerminal(status) ? [[mirrorHash, status]] : [];
  return Object.fromEntries([...set.values()].flatMap(told));
}

/** What is to be written and what to be forgotten, so that the pods are kept as they are delivered. */
export function keepingOf(
  pods: readonly DesiredPod[],
  kept: readonly DesiredPod[],
): { keep: DesiredPod[]; forget: string[] } {
  const before = new Set(kept);
  const uids = new Set(pods.map(uidOf));
  return {
    keep: pods.filter((pod) => !before.has(pod)),
    forget: kept.map(uidOf).filter((uid) => !uids.has(uid)),
  };
}

const uidOf = ({ metadata }: Pod) => metadata?.uid ?? '';

function entryOf(before: ApiEntry | undefined, pod: Pod, seen: string): ApiEntry {
  if (before && !before.recalled && before.api.resourceVersion === pod.metadata?.resourceVersion) return before;
  const api = asApiPod(pod);
  if (api.mirrorHash !== undefined) return { api };
  const asked = askedOf(pod, before?.asked?.metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? seen);
  // The status that the API has is where the agent goes on from: a kept pod has an older one.
  const isSame = (old: DesiredPod) =>
    sameForAgent(old, asked) && (!before?.recalled || sameJson(old.status, asked.status));
  if (before?.asked && isSame(before.asked)) {
    const { recalled: _heardNow, ...known } = before;
    const { refused } = before.api;
    return { ...known, api: refused ? { ...api, refused } : api };
  }
  const problem = problemsOf(asked).join('; ');
  if (!problem) return { api, asked, desired: asked };
  // A change that cannot be obeyed touches nothing that runs; the pod's end is obeyed in any case.
  if (before?.desired)
    return { api, asked, desired: { ...asked, spec: before.desired.spec }, problem: problem + GOES_ON };
  // Another agent has run it: to end it would be worse than to go on with it.
  if (hasRun(pod.status)) return { api, asked, desired: asked, problem: problem + GOES_ON };
  return { api: { ...api, refused: { pod: asked, message: problem } }, asked, problem };
}

/** What of the pod as a whole can be judged only where each of its fields is what it has to be. */
function problemsOf(pod: DesiredPod): readonly string[] {
  const wrong = fieldProblems(pod as unknown as Plain, POD);
  return wrong.length > 0 ? wrong : podProblems(pod);
}

/**
 * The API's pod as the agent has it (config/config.go:updatePodsInCache): annotations that say where a pod comes from are
 * the agent's own. A config.hash that others have set would name the pod's log folder.
 */
function askedOf(pod: Pod, seen: string): DesiredPod {
  const { managedFields: _unread, annotations, ...metadata } = pod.metadata ?? {};
  const { [CONFIG_HASH_ANNOTATION]: _hash, ...others } = annotations ?? {};
  return {
    ...pod,
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      annotations: { ...others, [CONFIG_SOURCE_ANNOTATION]: 'api', [CONFIG_SEEN_ANNOTATION]: seen },
    },
  } as DesiredPod;
}

/** Whether two versions differ in nothing that the agent acts on (config/config.go:checkAndUpdatePod). */
function sameForAgent(a: DesiredPod, b: DesiredPod): boolean {
  const shown = ({ spec, status, metadata }: DesiredPod) => {
    const { labels, annotations, deletionTimestamp, deletionGracePeriodSeconds, generation } = metadata;
    const foreign = status?.conditions?.filter(isForeignCondition).map(({ type, status: is }) => [type, is]) ?? [];
    return { spec, labels, annotations, deletionTimestamp, deletionGracePeriodSeconds, generation, foreign };
  };
  return sameJson(shown(a), shown(b));
}

function hasRun({ initContainerStatuses = [], containerStatuses = [] }: PodStatus = {}): boolean {
  return [...initContainerStatuses, ...containerStatuses].some(({ containerID }) => Boolean(containerID));
}
