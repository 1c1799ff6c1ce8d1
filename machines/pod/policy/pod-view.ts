import type { DesiredPod, PodStatus } from '../../kubernetes.types.ts';
import type { ObservedPod } from '../../runtime.types.ts';
import type { CurrentSandbox, KeptStops } from '../container.types.ts';
import type { PodPlan, Termination } from '../pod.types.ts';
import type { KeptVerdicts } from '../probe.types.ts';
import { keptReplacements } from './kept-stop.ts';
import { planContainers } from './plan-containers.ts';
import { podStatus } from './pod-status.ts';
import { podEndOf } from './stop-plan.ts';
import { inStartOrder } from './start-order.ts';

/** What is known of a pod at one moment: the input of every decision its machine makes. */
export interface PodFacts {
  pod: DesiredPod;
  orphan: boolean;
  observed: ObservedPod;
  /** The plan in force, which the next one follows. */
  plan?: PodPlan;
  /** Stops of its containers that an earlier agent began. */
  keptStops?: KeptStops;
  /** What probes have found, by container name. */
  verdicts: KeptVerdicts;
  waiting: Record<string, { reason: string; message: string }>;
  /** Set once the pod is to end; its grace only shrinks. */
  termination?: Termination;
  /** True once nothing of it can run any more. */
  released: boolean;
  sandboxAttemptFloor: number;
  hostIPs: string[];
  runtimeName: string;
  status?: PodStatus;
}

/**
 * The plan for the sandbox and every container, those that the spec no longer names included: they are stopped.
 *
 * @param now the process's own time, ms, in which an end of the pod is counted
 */
export function planPod(facts: PodFacts, now: number): PodPlan {
  const { pod, observed, termination } = facts;
  const plan = planContainers(pod, {
    observed,
    now,
    termination,
    replaced: facts.plan?.replaced ?? keptReplacements(facts.keptStops, pod),
    verdicts: facts.verdicts,
  });
  const ordered = termination ? plan : inStartOrder(plan, pod, observed, facts.waiting);
  const containers = { ...ordered.containers };
  for (const { name, state } of observed.containers) {
    if (containers[name]) continue;
    containers[name] =
      state === 'running' || state === 'unknown'
        ? {
            do: 'stop',
            reason: termination ? 'podStopping' : 'definitionChanged',
            message: `Stopping container ${name}`,
            ...podEndOf(termination ?? {}),
            gracePeriodSeconds:
              termination?.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
          }
        : { do: 'hold', reason: 'completed' };
  }
  const sandbox =
    ordered.sandbox.do === 'create'
      ? { ...ordered.sandbox, attempt: Math.max(ordered.sandbox.attempt, facts.sandboxAttemptFloor) }
      : ordered.sandbox;
  return { ...ordered, sandbox, containers };
}

/** API default of terminationGracePeriodSeconds. */
const DEFAULT_GRACE_SECONDS = 30;

/** The sandbox that containers are created in, or none yet. */
export function currentSandbox(
  plan: PodPlan,
  { observed, hostIPs }: Pick<PodFacts, 'observed' | 'hostIPs'>,
): CurrentSandbox | undefined {
  if (plan.sandbox.do !== 'keep') return undefined;
  const { id } = plan.sandbox;
  const sandbox = observed.sandboxes.find((s) => s.id === id);
  return sandbox && { id, attempt: sandbox.attempt, ips: sandbox.ips, hostIPs };
}

/** The status as the API shows it; undefined for an orphan, whose object is gone. */
export function statusOf(facts: PodFacts, now: number): PodStatus | undefined {
  if (facts.orphan) return undefined;
  return podStatus({
    pod: facts.pod,
    observed: facts.observed,
    waiting: facts.waiting,
    replaced: replacedNames(facts),
    verdicts: facts.verdicts,
    previous: facts.status,
    failed: facts.termination?.failed,
    terminating: facts.termination !== undefined || isOver(facts),
    released: facts.released || isOver(facts),
    over: facts.termination?.over === true || isOver(facts),
    hostIPs: facts.hostIPs,
    runtimeName: facts.runtimeName,
    now,
  });
}

/** Containers whose newest instance gave way to another, whether or not the next one's turn has come. */
function replacedNames({ plan, observed }: PodFacts): string[] {
  const newest = new Map(observed.containers.toReversed().map(({ name, id }) => [name, id]));
  return [...newest].flatMap(([name, id]) => (plan?.replaced.includes(id) ? [name] : []));
}

/** Everything that the pod was to run has ended for good, whether or not its end was reported before. */
function isOver({ plan, observed }: PodFacts): boolean {
  return plan?.finished === true && !anyRunning(observed);
}

/**
 * Whether the pod only seems to be over: an instance ended without having been a process, and the sandbox, whose death may
 * be why, was last seen before that (B016).
 */
export function endIsUnproven(plan: PodPlan, { sandboxes, containers }: ObservedPod): boolean {
  const seen = sandboxes[0]?.at ?? Infinity;
  return plan.finished && containers.some((c) => c.state === 'exited' && c.startedAt === undefined && c.at > seen);
}

/** Containers that run, or of which the runtime cannot say that they do not. */
export function anyRunning(observed: ObservedPod): boolean {
  return observed.containers.some((c) => c.state === 'running' || c.state === 'unknown');
}

/** Sandboxes that were not stopped yet: the runtime still has them ready, or keeps their network. */
export function sandboxesToStop(observed: ObservedPod, stopped: readonly string[]): string[] {
  return observed.sandboxes.map((s) => s.id).filter((id) => !stopped.includes(id));
}
