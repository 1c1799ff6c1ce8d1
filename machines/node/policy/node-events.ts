import type { RecordedEvent } from '../../agent.types.ts';
import type { NodeStatus } from '../../kubernetes.types.ts';
import { conditionOf } from './node-conditions.ts';

/** Condition, and the reasons of becoming True and False. */
const FLIPS: [type: string, yes: string, no: string][] = [
  ['MemoryPressure', 'NodeHasInsufficientMemory', 'NodeHasSufficientMemory'],
  ['DiskPressure', 'NodeHasDiskPressure', 'NodeHasNoDiskPressure'],
  ['PIDPressure', 'NodeHasInsufficientPID', 'NodeHasSufficientPID'],
  ['Ready', 'NodeReady', 'NodeNotReady'],
];

/**
 * What is to be told of a status that was written (nodestatus/setters.go; test/facts/events.tsv): conditions that flipped,
 * and that the host was started anew.
 *
 * @param before as the Node had it; undefined for a new Node, whose first Ready is no flip
 */
export function nodeEvents(nodeName: string, before: NodeStatus | undefined, after: NodeStatus): RecordedEvent[] {
  const flips = FLIPS.flatMap(([type, yes, no]) => {
    const [old, now] = [conditionOf(before?.conditions, type)?.status, conditionOf(after.conditions, type)?.status];
    if (now === old || now === undefined || (type === 'Ready' && old === undefined)) return [];
    return [became(nodeName, now === 'True' ? yes : no)];
  });
  const [bootBefore, boot] = [before?.nodeInfo?.bootID, after.nodeInfo?.bootID];
  const isRebooted = bootBefore && boot && bootBefore !== boot;
  const rebooted = `Node ${nodeName} has been rebooted, boot id: ${boot}`;
  return isRebooted ? [...flips, { type: 'Warning', reason: 'Rebooted', message: rebooted }] : flips;
}

/** That the node was cordoned or uncordoned (kubelet_node_status.go:recordNodeSchedulableEvent). */
export function schedulableEvent(nodeName: string, isUnschedulable: boolean): RecordedEvent {
  return became(nodeName, isUnschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable');
}

function became(nodeName: string, reason: string): RecordedEvent {
  return { type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}` };
}
