import type { RecordedEvent } from '../../agent.types.ts';
import type { DesiredPod, PodStatus } from '../../kubernetes.types.ts';
import type { NodeView, Rejection } from '../../pod/policy/admit/admission.types.ts';
import { admitAll, wasAdmitted } from '../../pod/policy/admit/admit-all.ts';
import { PREEMPTED, refusedStatus } from '../../pod/policy/admit/refusal.ts';
import { rfc3339 } from '../../pod/policy/conditions.ts';
import { qosClass } from '../../pod/policy/qos.ts';
import type { ObservedPod } from '../../runtime.types.ts';
import type { PodEntry } from '../syncloop.types.ts';
import type { ReconcilePlan } from './reconcile-pods.ts';

type Addition = ReconcilePlan['add'][number];

export interface Judged {
  /** To be begun now. */
  take: Addition[];
  /** Not taken in: their status, and the event that says why. */
  refuse: (Addition & { status: PodStatus; event: RecordedEvent })[];
  /** Refused for the Node's labels alone, by a view of it that may be old: it is read afresh first (UIDs). */
  look: string[];
  /** To be ended so that a critical pod fits, which is judged again once they are gone. */
  preempt: string[];
  /** Would have others end that this agent has not taken over yet: judged again when it has. */
  later: string[];
}

/**
 * Judges the pods that are new here. What an agent took in before is not judged again, nor one that is over or on its way
 * out; a pod that only waits for others to make room is left out until they have.
 *
 * @param now wall clock, ms
 */
export function admitAdditions(
  additions: readonly Addition[],
  facts: {
    node: NodeView;
    entries: Readonly<Record<string, PodEntry>>;
    observed: Readonly<Record<string, ObservedPod>>;
    ended: Readonly<Record<string, PodStatus>>;
    /** Pods for which the Node is being read or was; undefined: there is none to be read. */
    looks?: Readonly<Record<string, 'asked' | 'answered'>>;
  },
  now: number,
): Judged {
  const judged: Judged = { take: [], refuse: [], look: [], preempt: [], later: [] };
  const isNew = ({ uid, pod, again, ending }: Addition) =>
    !again && !ending && facts.ended[uid] === undefined && !isOver(pod) && !pod.metadata.deletionTimestamp;
  const fresh = additions.filter(isNew);
  const active = Object.values(facts.entries).flatMap(({ pod, released }) => (pod && !released ? [pod] : []));
  // Who else has to go is judged when those have gone that were told to.
  const isMakingRoom = Object.values(facts.entries).some(({ preempted, released }) => preempted && !released);
  const before = (pod: DesiredPod) => wasAdmitted(facts.observed[pod.metadata.uid], pod.status);
  const admissions = admitAll(
    fresh.map(({ pod }) => pod),
    { node: facts.node, active },
    before,
  );
  const toGo = new Set([...admissions.values()].flatMap((each) => (each.admitted ? (each.preempt ?? []) : [])));
  const isNewAndToGo = (uid: string) =>
    toGo.has(uid) && fresh.some(({ pod }) => pod.metadata.uid === uid && !before(pod));
  const refuse = (addition: Addition, { reason, message }: Rejection, shown: Rejection) => {
    const { name, namespace, uid } = addition.pod.metadata;
    const event: RecordedEvent = { type: 'Warning', reason, message, pod: { name, namespace, uid } };
    judged.refuse.push({ ...addition, status: statusOfRefused(addition.pod, shown, now), event });
  };
  for (const addition of additions) {
    const admission = isNew(addition) ? admissions.get(addition.uid) : undefined;
    // Nobody makes an API pod's Failed undone; a static pod is judged again by itself (judgedAgainAfter).
    const isStale = admission?.admitted === false && admission.stale && addition.source === 'api';
    if (isStale && facts.looks && facts.looks[addition.uid] !== 'answered') judged.look.push(addition.uid);
    else if (admission?.admitted === false) refuse(addition, admission, refusedStatus(admission));
    else if (isNewAndToGo(addition.uid)) refuse(addition, PREEMPTED, PREEMPTED);
    else {
      const awaited = (admission?.preempt ?? []).filter((uid) => !isNewAndToGo(uid));
      if (awaited.length === 0) judged.take.push(addition);
      else if (awaited.some((uid) => !facts.entries[uid])) judged.later.push(addition.uid);
      else if (!isMakingRoom) judged.preempt.push(...awaited);
    }
  }
  return judged;
}

const isOver = ({ status }: DesiredPod) => status?.phase === 'Failed' || status?.phase === 'Succeeded';

function statusOfRefused(pod: DesiredPod, { reason, message }: Rejection, now: number): PodStatus {
  const { generation } = pod.metadata;
  return {
    ...(generation && { observedGeneration: generation }),
    phase: 'Failed',
    reason,
    message,
    qosClass: qosClass(pod.spec),
    startTime: rfc3339(now),
  };
}
