import type { NodeCondition } from '../../kubernetes.types.ts';
import { rfc3339 } from '../../pod/policy/conditions.ts';
import type { NodeSituation } from '../node.types.ts';
import type { Resources } from './allocatable.ts';

/** The runtime may be away this long before the node is not ready for it, ms (kubelet.go:maxWaitForContainerRuntime). */
const RUNTIME_GRACE = 30_000;

const NEEDED = ['cpu', 'memory', 'pods', 'ephemeral-storage'];

interface ConditionInput {
  /** The Node's conditions so far. */
  existing: readonly NodeCondition[];
  situation: NodeSituation;
  /** Monotonic ms for which the runtime has not been known to be there. */
  awayMs: number;
  capacity: Resources;
  /** Whether ephemeral-storage has to be in the capacity. */
  localStorageCapacityIsolation: boolean;
  /** Wall clock, ms since the epoch. */
  now: number;
}

type Verdict = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * The four conditions that are the agent's (nodestatus/setters.go); lastTransitionTime moves only when a status flips.
 * A runtime that is not known to be there costs nothing within its grace: what was said before stands, by this process
 * or by an earlier one, so that a restart of the agent alone never makes the node NotReady.
 */
export function nodeConditions(input: ConditionInput): NodeCondition[] {
  const { pressure } = input.situation;
  const verdicts = [
    pressured('MemoryPressure', pressure.memory, [
      ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
      ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
    ]),
    pressured('DiskPressure', pressure.disk, [
      ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
      ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
    ]),
    pressured('PIDPressure', pressure.pid, [
      ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
      ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
    ]),
    ready(input),
  ];
  const now = rfc3339(input.now);
  return verdicts.map((verdict) => {
    const before = input.existing.find(({ type }) => type === verdict.type);
    const lastTransitionTime = before?.status === verdict.status ? (before.lastTransitionTime ?? now) : now;
    return { ...verdict, lastHeartbeatTime: now, lastTransitionTime };
  });
}

/** The condition of a type; undefined where it was never told. */
export function conditionOf(conditions: readonly NodeCondition[] | undefined, type: string): NodeCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

function pressured(type: string, isTrue: boolean, [yes, no]: [[string, string], [string, string]]): Verdict {
  const [reason, message] = isTrue ? yes : no;
  return { type, status: isTrue ? 'True' : 'False', reason, message };
}

function ready(input: ConditionInput): Verdict {
  const { existing, capacity, localStorageCapacityIsolation, situation } = input;
  const before = conditionOf(existing, 'Ready');
  const runtime = runtimeErrors(input, before !== undefined && before.status !== 'Unknown');
  const needed = NEEDED.filter((name) => name !== 'ephemeral-storage' || localStorageCapacityIsolation);
  const missing = needed.filter((name) => capacity[name] === undefined);
  const errors = [
    ...runtime.errors,
    ...(situation.shuttingDown ? ['node is shutting down'] : []),
    ...(missing.length > 0 ? [`missing node capacity for resources: ${missing.join(', ')}`] : []),
  ];
  if (errors.length > 0) {
    const message = errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
    return { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message };
  }
  if (runtime.isPending && before) {
    const { type, status, reason, message } = before;
    return { type, status, reason, message };
  }
  return { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
}

/**
 * What is wrong with the runtime (runtime.go:runtimeErrors, networkErrors), or that it is not known yet and its grace is
 * not over.
 */
function runtimeErrors(
  { situation: { health, message }, awayMs }: ConditionInput,
  wasTold: boolean,
): { errors: string[]; isPending?: boolean } {
  if (health === 'healthy') return { errors: [] };
  if (health === 'networkNotReady') return { errors: [`container runtime network not ready: ${message}`] };
  if (health === 'unknown' && !wasTold)
    return { errors: ['container runtime status check may not have completed yet'] };
  // A runtime that answers, and says that it is not ready, is taken by its word at once.
  const own = message.startsWith('RuntimeReady=false') ? [`container runtime not ready: ${message}`] : [];
  const isDown = awayMs >= RUNTIME_GRACE || !wasTold;
  const errors = [...(isDown ? ['container runtime is down'] : []), ...own];
  return { errors, isPending: errors.length === 0 };
}
