import type { DesiredPod, PodCondition, PodStatus } from '../../kubernetes.types.ts';
import { mergeContainers } from './merge-containers.ts';

/** Condition types that the node's agent alone writes (facts/pod-conditions.tsv). */
const OWN_CONDITIONS = [
  'PodResizePending',
  'PodResizeInProgress',
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'AllContainersRestarting',
];
const DISRUPTION_TARGET = 'DisruptionTarget';

/** Fields of a pod's status that the node's agent alone writes; what others wrote beside them stays. */
const OWN_FIELDS = [
  'observedGeneration',
  'phase',
  'conditions',
  'message',
  'reason',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'initContainerStatuses',
  'containerStatuses',
  'ephemeralContainerStatuses',
] as const satisfies readonly (keyof PodStatus)[];

/** A condition type that others than the node's agent write (readiness gates, controllers). */
export function isForeignCondition({ type }: { type: string }): boolean {
  return !OWN_CONDITIONS.includes(type);
}

export function isTerminal(status: PodStatus | undefined): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/**
 * The status that the API is to have, from the one that it has and the one that the agent has made
 * (status/status_manager.go:mergePodStatus, updateStatusInternal, checkContainerStateTransition).
 */
export function mergeStatus(pod: DesiredPod, api: PodStatus | undefined, wanted: PodStatus): PodStatus {
  const others = Object.entries(api ?? {}).filter(([key]) => !(OWN_FIELDS as readonly string[]).includes(key));
  const phase = isTerminal(api) ? pick(api, 'phase', 'reason', 'message') : pick(wanted, 'phase', 'reason', 'message');
  const { reason: _reason, message: _message, ...own } = wanted;
  return {
    ...own,
    ...Object.fromEntries(others),
    ...phase,
    ...newest(wanted.observedGeneration, api?.observedGeneration),
    ...mergeContainers(pod, api, wanted),
    conditions: mergeConditions(api, wanted, isTerminal(phase)),
  };
}

/**
 * Whether the API's status says what another does: what is unset and what is empty are the same on the wire, and conditions
 * have no order.
 */
export function sameStatus(a: PodStatus = {}, b: PodStatus = {}): boolean {
  if (a === b) return true;
  const { conditions: left, ...own } = a;
  const { conditions: right, ...other } = b;
  return sameOnWire(own, other) && sameOnWire(byType(left), byType(right));
}

const byType = (conditions: readonly PodCondition[] = []) =>
  Object.fromEntries(conditions.map((condition) => [condition.type, condition]));

function pick(status: PodStatus | undefined, ...fields: ('phase' | 'reason' | 'message')[]): PodStatus {
  return Object.fromEntries(fields.flatMap((field) => (status?.[field] ? [[field, status[field]]] : [])));
}

const newest = (a = 0, b = 0) => (a || b ? { observedGeneration: Math.max(a, b) } : {});

/** Others' conditions as the API has them, then the agent's own. */
function mergeConditions(api: PodStatus | undefined, wanted: PodStatus, terminal: boolean): PodCondition[] {
  const before = api?.conditions ?? [];
  const stamped = (condition: PodCondition) =>
    stamp(
      condition,
      before.find(({ type }) => type === condition.type),
    );
  const made = wanted.conditions ?? [];
  // It is told together with the end, and others may have said it before (an eviction by the API).
  const disrupted = terminal && !isTerminal(api) ? made.filter(({ type }) => type === DISRUPTION_TARGET) : [];
  const foreign = before.filter(
    (condition) => isForeignCondition(condition) && !disrupted.some(({ type }) => type === condition.type),
  );
  const own = made.filter((condition) => !isForeignCondition(condition));
  return [
    ...foreign,
    ...disrupted.map(stamped),
    ...own.map((condition) => stamped(terminal ? notReady(condition) : condition)),
  ];
}

function notReady(condition: PodCondition): PodCondition {
  const isReadiness = condition.type === 'Ready' || condition.type === 'ContainersReady';
  return isReadiness && condition.status !== 'False' ? { ...condition, status: 'False' } : condition;
}

/** The time of a transition changes with the status alone, and never goes back (B081). */
function stamp(condition: PodCondition, api: PodCondition | undefined): PodCondition {
  if (!api) return condition;
  const { lastTransitionTime: was } = api;
  const at = condition.lastTransitionTime;
  const stays = was && (api.status === condition.status || !at || Date.parse(was) > Date.parse(at));
  return {
    ...condition,
    ...newest(condition.observedGeneration, api.observedGeneration),
    ...(stays && { lastTransitionTime: was }),
  };
}

/** A server shows fields that are not set as `lastProbeTime: null`, as empty texts and lists, or not at all. */
const isUnset = (value: unknown) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

function sameOnWire(a: unknown, b: unknown): boolean {
  if (a === b || (isUnset(a) && isUnset(b))) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameOnWire(item, b[i]));
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key of Object.keys(left)) if (!sameOnWire(left[key], right[key])) return false;
  for (const key of Object.keys(right)) if (!isUnset(right[key]) && left[key] === undefined) return false;
  return true;
}
