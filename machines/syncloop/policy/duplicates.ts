import type { RecordedEvent } from '../../agent.types.ts';
import type { DesiredPod } from '../../kubernetes.types.ts';
import { podFullName } from '../../pod/policy/names.ts';

/**
 * One source's pods without those whose full name or UID an earlier one has; each that is dropped is told by a
 * FailedValidation event (config/config.go:filterInvalidPods). Pods of different sources may share a name, as with the
 * kubelet: they then run one after the other.
 *
 * @param originOf the manifest that a pod comes from, which its event names
 * @param pods the first one of a name or UID stays
 */
export function withoutDuplicates(
  pods: readonly DesiredPod[],
  source: string,
  originOf: (pod: DesiredPod) => string = () => source,
): { pods: DesiredPod[]; events: RecordedEvent[] } {
  const names = new Map<string, DesiredPod>();
  const uids = new Map<string, DesiredPod>();
  const kept: DesiredPod[] = [];
  const events: RecordedEvent[] = [];
  for (const pod of pods) {
    const { name, namespace, uid } = pod.metadata;
    const fullName = podFullName(pod);
    const [ofName, ofUid] = [names.get(fullName), uids.get(uid)];
    const holder = ofName ?? ofUid;
    if (holder === undefined) {
      names.set(fullName, pod);
      uids.set(uid, pod);
      kept.push(pod);
      continue;
    }
    events.push({
      type: 'Warning',
      reason: 'FailedValidation',
      message: `Error validating pod ${fullName}(${uid}) from ${originOf(pod)} due to duplicate pod ${ofName ? `name "${fullName}"` : `UID "${uid}"`}, ignoring: ${originOf(holder)} has it`,
      pod: { name, namespace, uid },
    });
  }
  return { pods: kept, events };
}
