import type { DesiredPod, PodStatus } from '../../../kubernetes.types.ts';
import type { ObservedPod } from '../../../runtime.types.ts';
import type { Admission, AdmissionView } from './admission.types.ts';
import { judge } from './admit.ts';
import { holdingsOf, holdingsWith } from './resources-fit.ts';

/**
 * Whether an agent has taken the pod in before, be it this one or one before it: something of it is in the runtime, or its
 * status says that it was begun. The node may have changed since; the pod is not judged again.
 *
 * @param status as the API or this agent's own facts have it
 */
export function wasAdmitted(observed: ObservedPod | undefined, status: PodStatus | undefined): boolean {
  if (observed && observed.sandboxes.length + observed.containers.length > 0) return true;
  return status?.startTime !== undefined && status.phase !== 'Failed';
}

/**
 * Judges pods that are new to this agent together, so that the outcome does not hang on the order in which they came:
 * first those that were admitted before keep what they have, then the oldest comes first
 * (kubelet.go:HandlePodAdditions). Each that is admitted counts for those after it, and each that it preempts no more.
 *
 * @param isAdmitted of a pod that was admitted before and is not over
 * @returns by UID
 */
export function admitAll(
  pods: readonly DesiredPod[],
  { node, active }: AdmissionView,
  isAdmitted: (pod: DesiredPod) => boolean,
): Map<string, Admission> {
  const admissions = new Map<string, Admission>();
  const before = pods.filter(isAdmitted);
  for (const { metadata } of before) admissions.set(metadata.uid, { admitted: true });
  const judged = pods.filter(({ metadata }) => !admissions.has(metadata.uid)).toSorted(byAge);
  const uids = new Set(pods.map(({ metadata }) => metadata.uid));
  const holders = new Map([...active.filter(({ metadata }) => !uids.has(metadata.uid)), ...before].map(byUid));
  let held = holdingsOf([...holders.values()]);
  for (const pod of judged) {
    const admission = judge(pod, node, [...holders.values()], () => held);
    admissions.set(pod.metadata.uid, admission);
    if (!admission.admitted) continue;
    const gone = (admission.preempt ?? []).flatMap((uid) => holders.get(uid) ?? []);
    held = holdingsWith(held, pod, gone);
    for (const { metadata } of gone) holders.delete(metadata.uid);
    holders.set(...byUid(pod));
  }
  return admissions;
}

const byUid = (pod: DesiredPod): [string, DesiredPod] => [pod.metadata.uid, pod];

/** By creation; static pods, which have none, are the node's own and come first. */
function byAge(a: DesiredPod, b: DesiredPod): number {
  const [ageOfA, ageOfB] = [createdAt(a), createdAt(b)];
  if (ageOfA !== ageOfB) return ageOfA - ageOfB;
  return a.metadata.uid < b.metadata.uid ? -1 : 1;
}

function createdAt({ metadata }: DesiredPod): number {
  return metadata.creationTimestamp ? Date.parse(metadata.creationTimestamp) : 0;
}
