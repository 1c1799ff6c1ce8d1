import type { DesiredPod } from '../../machines/kubernetes.types.ts';
import type { PodPlan } from '../../machines/pod/pod.types.ts';
import { sameJson } from '../../machines/pod/policy/same-json.ts';
import type { ObservedPod } from '../../machines/runtime.types.ts';
import type { OwnReasons, Reasons, Step } from './cause.types.ts';
import { exitCause, newExits } from './cause-exit.ts';
import type { Cause } from './live.types.ts';

/** What is read of a pod's context. */
interface Seen {
  pod: DesiredPod;
  orphan: boolean;
  observed: ObservedPod;
  plan: PodPlan;
  predecessorUid?: string;
  termination?: { gracePeriodSeconds: number; failed?: { reason: string }; over?: boolean; removed?: true };
}

/** Who ends a pod, by the reason that its status is given. */
const FAILURES: Readonly<Record<string, string>> = {
  DeadlineExceeded: 'deadline',
  Evicted: 'eviction',
  Preempting: 'preemption',
  Terminated: 'nodeShutdown',
};

/** Why one pod does what it does: who made it, changed it or ends it, or what happened to its containers and its sandbox. */
export const podReasons: OwnReasons = (step) => {
  const after = step.after.context as Seen;
  const before = step.before?.context as Seen | undefined;
  if (after.termination !== before?.termination) {
    const ending = endingOf(step, before, after);
    if (ending) return { ending };
  }
  if (!before) return { own: beginning(after) };
  return { ...whatHappened(step, before, after), ...(lacksNetwork(step) && { failure: NO_NETWORK }) };
};

const NO_NETWORK: Cause = { by: 'networkLost', detail: "the runtime's pod network is not ready" };
const lacksNetwork = ({ after, before }: Step) =>
  after.value !== before?.value && inState(after.value, 'waitingForNetwork');
const inState = (value: unknown, state: string) => (value as { syncing?: unknown } | undefined)?.syncing === state;

const sourceOf = ({ metadata }: DesiredPod) => metadata.annotations?.['kubernetes.io/config.source'] ?? 'api';

function beginning({ pod, observed, predecessorUid }: Seen): Cause {
  if (observed.sandboxes.length + observed.containers.length > 0)
    return { by: 'restart', detail: 'found as it was when the agent started' };
  const source = sourceOf(pod);
  return source === 'api'
    ? { by: 'userCreate', detail: 'bound to this node at the API server' }
    : predecessorUid === undefined
      ? { by: 'manifestAdded', detail: `a manifest of the ${source} source` }
      : { by: 'manifestChange', detail: `its manifest at the ${source} source took the place of another` };
}

/** Undefined where the step changed nothing of the reason. */
function endingOf(step: Step, before: Seen | undefined, after: Seen): Cause | undefined {
  const { pod, orphan, termination, observed } = after;
  const was = before?.termination;
  const { failed, over, removed, gracePeriodSeconds } = termination ?? {};
  if (failed && failed.reason !== was?.failed?.reason)
    return { by: FAILURES[failed.reason] ?? 'failed', detail: failed.reason };
  const isShorter = was !== undefined && (gracePeriodSeconds ?? 0) < was.gracePeriodSeconds;
  if (was && step.reasons.ending && !isShorter) return undefined;
  if (orphan) return { by: 'orphan', detail: 'no source has it any more' };
  if (pod.metadata.deletionTimestamp)
    return { by: 'userDelete', detail: `deleted at the API server, with ${gracePeriodSeconds} s to end` };
  if (over) {
    const [last] = newExits(before?.observed.containers ?? [], observed.containers);
    const { own } = step.reasons;
    if (last) return exitCause(last);
    return ['exit', 'oom'].includes(own.by) ? own : { by: 'exit', detail: 'all that it was to run has ended' };
  }
  if (removed && step.event.type === 'pod.removed') {
    const source = sourceOf(pod);
    return source === 'api'
      ? { by: 'userDelete', detail: 'its object is gone from the API server' }
      : { by: 'manifestRemoved', detail: `its manifest at the ${source} source was removed or replaced` };
  }
  if (!before) return { by: 'restart', detail: 'its end was begun before the agent was started' };
  return isShorter ? undefined : { by: 'event', detail: step.event.type };
}

function whatHappened(step: Step, before: Seen, after: Seen): Partial<Reasons> {
  const { type } = step.event;
  switch (type) {
    case 'pod.desired':
      return sameJson(before.pod.spec, after.pod.spec)
        ? {}
        : { own: { by: 'manifestChange', detail: `changed at the ${sourceOf(after.pod)} source` } };
    case 'network.ready':
      return inState(step.before?.value, 'waitingForNetwork')
        ? { own: { by: 'runtimeBack', detail: 'the pod network is ready' } }
        : {};
    default:
      return seen(before, after);
  }
}

/** A container that ended by itself, or a sandbox that did. */
function seen(before: Seen, after: Seen): Partial<Reasons> {
  if (before.observed === after.observed) return {};
  const [sandbox] = before.observed.sandboxes;
  const isLost =
    sandbox?.state === 'ready' &&
    before.plan.sandbox.do === 'keep' &&
    !after.observed.sandboxes.some(({ id, state }) => id === sandbox.id && state === 'ready');
  // Its containers ended with it.
  if (isLost) return { own: { by: 'sandboxChanged', detail: 'its sandbox has ended' } };
  const exit = newExits(before.observed.containers, after.observed.containers).find(
    ({ name }) => before.plan.containers[name]?.do !== 'stop',
  );
  return exit ? { own: exitCause(exit) } : {};
}
