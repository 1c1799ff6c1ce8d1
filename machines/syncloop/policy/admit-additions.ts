import type { RecordedEvent } from '../../agent.types.ts';
import type { DesiredPod, PodStatus } from '../../kubernetes.types.ts';
import type { NodeView } from '../../pod/policy/admit/admission.types.ts';
import { admitAll, wasAdmitted } from '../../pod/policy/admit/admit-all.ts';
import { refusedStatus } from '../../pod/policy/admit/refusal.ts';
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
  /** To be ended so that a critical pod fits, which is judged again once they are gone. */
  preempt: string[];
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
  },
  now: number,
): Judged {
  const judged: Judged = { take: [], refuse: [], preempt: [] };
  const isNew = ({ uid, pod, again, ending }: Addition) =>
    !again && !ending && facts.ended[uid] === undefined && !isOver(pod) && !pod.metadata.deletionTimestamp;
  const fresh = additions.filter(isNew);
  const active = Object.values(facts.entries).flatMap(({ pod, released }) => (pod && !released ? [pod] : []));
  const before = (pod: DesiredPod) => wasAdmitted(facts.observed[pod.metadata.uid], pod.status);
  const admissions = admitAll(
    fresh.map(({ pod }) => pod),
    { node: facts.node, active },
    before,
  );
  for (const addition of additions) {
    const admission = isNew(addition) ? admissions.get(addition.uid) : undefined;
    if (admission?.admitted === false) {
      const { name, namespace, uid } = addition.pod.metadata;
      const { reason, message } = admission;
      const event: RecordedEvent = { type: 'Warning', reason, message, pod: { name, namespace, uid } };
      judged.refuse.push({ ...addition, status: statusOfRefused(addition.pod, admission, now), event });
    } else if (admission?.preempt?.length) judged.preempt.push(...admission.preempt);
    else judged.take.push(addition);
  }
  return judged;
}

const isOver = ({ status }: DesiredPod) => status?.phase === 'Failed' || status?.phase === 'Succeeded';

function statusOfRefused(pod: DesiredPod, admission: { reason: string; message: string }, now: number): PodStatus {
  const { generation } = pod.metadata;
  return {
    ...(generation && { observedGeneration: generation }),
    phase: 'Failed',
    ...refusedStatus(admission),
    qosClass: qosClass(pod.spec),
    startTime: rfc3339(now),
  };
}
