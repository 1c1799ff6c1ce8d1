import type { ObservedContainer } from '../../runtime.types.ts';
import type { ContainerPlan, CurrentSandbox, StopReason } from '../container.types.ts';
import { backoffRemaining, type Backoff } from './backoff.ts';
import type { ContainerView } from './container-view.ts';

/** What a container has to go by: its plan, its sandbox, what it sees, and what it tried. */
export interface ContainerFacts extends ContainerView {
  plan: ContainerPlan;
  sandbox?: CurrentSandbox;
  backoff?: Backoff;
  /** Attempt up to which the back-off has counted every end: a successor starts without another wait. */
  servedAttempt?: number;
  /** Attempt that this machine last asked the runtime to create. */
  triedAttempt?: number;
  /** Instance that this machine failed to start. */
  notStarted?: string;
  /** A create or start that failed is not tried again before this moment. */
  retry?: Retry;
  /** Nor is a stop that failed; that another start failed before does not hold it up. */
  stopRetry?: Retry;
  /** When its image was got onto the node before there was a sandbox, in the process's own time, ms. */
  fetchedAt?: number;
  /** The stop that was last asked for. */
  stop?: StopRecord;
  /** Ids of ended instances whose removal failed: housekeeping's. */
  unremovable: string[];
}

export interface Retry {
  /** In the process's own time, as every wait is counted, ms. */
  failedAt: number;
  delayMs: number;
  /**
   * Of a start that failed: how long its own reason is shown, ms. What is left of the wait is the crash back-off's and
   * shown as that, as from the kubelet's next sync on. 0 once it has been.
   */
  reasonMs?: number;
  /** What failed, for those who ask. */
  message?: string;
}

export interface StopRecord {
  id: string;
  gracePeriodSeconds: number;
  /** When the grace of the first request, or of a shorter one since, ends, in the process's own time. */
  killAt: number;
  reason: StopReason;
  /** The runtime said that it is done. */
  settled: boolean;
}

export type ContainerDecision =
  /** `stopLater`: it is to be stopped, but a stop has just failed. */
  | { to: 'stop' | 'stopLater' | 'remove' | 'adopt'; instance: ObservedContainer }
  | { to: 'run' | 'fetch' | 'pull' | 'wait' | 'exited' | 'complete' | 'backOff' | 'retryLater' };

const isLive = ({ state }: ObservedContainer) => state === 'running' || state === 'unknown';

/**
 * What a container does next; `now` is the process's own time, as all times of the facts are. The same answer for a fresh start, a restarted agent and a container that another agent
 * started, because it looks at nothing but the facts.
 */
export function decideContainer(facts: ContainerFacts, now: number): ContainerDecision {
  const { plan, sandbox, instances } = facts;
  const live = instances.filter(isLive);
  const stray = live.find((i) => mustStop(i, facts, live));
  if (stray) return decideStop(stray, facts, now);
  if (live.length > 0) return { to: 'run' };
  if (plan.do === 'stop') return { to: 'exited' };
  if (plan.do === 'hold') {
    if (plan.reason === 'completed') return { to: 'complete' };
    if (plan.reason === 'firstInTurn' && facts.fetchedAt === undefined && retryRemaining(facts.retry, now) === 0)
      return { to: 'fetch' };
    return plan.reason === 'podStopping' && instances.length > 0 ? { to: 'exited' } : { to: 'wait' };
  }
  if (!sandbox) return { to: 'wait' };
  const [newest] = instances;
  if (newest && mayStart(newest, facts)) return { to: 'adopt', instance: newest };
  // The plan was made before this end was known: it may not want another (restartPolicy Never).
  if (newest?.state === 'exited' && !facts.knownExits.includes(newest.id)) return { to: 'exited' };
  if (retryRemaining(facts.retry, now) > 0) return { to: facts.retry?.reasonMs === 0 ? 'backOff' : 'retryLater' };
  const old = instances.find((i) => mustGo(i, instances) && !facts.unremovable.includes(i.id));
  if (old) return { to: 'remove', instance: old };
  return crashRemaining(facts, now) > 0 ? { to: 'backOff' } : { to: 'pull' };
}

/** Two of a name never run at once, and none runs in another sandbox or in a state that nobody knows. */
function mustStop(
  instance: ObservedContainer,
  { plan, sandbox, stop }: ContainerFacts,
  live: ObservedContainer[],
): boolean {
  if (plan.do === 'stop') return true;
  // Its stop signal is sent: a stop that was begun is finished, by whichever agent.
  if (stop?.id === instance.id && !stop.settled) return true;
  if (plan.do === 'hold') return false;
  return (
    instance.state === 'unknown' || instance !== live[0] || (sandbox !== undefined && instance.sandboxId !== sandbox.id)
  );
}

function decideStop(instance: ObservedContainer, facts: ContainerFacts, now: number): ContainerDecision {
  if (retryRemaining(facts.stopRetry, now) > 0) return { to: 'stopLater', instance };
  const done = facts.stop?.id === instance.id && facts.stop.settled;
  return done && instance.state === 'unknown' && !facts.unremovable.includes(instance.id)
    ? { to: 'remove', instance }
    : { to: 'stop', instance };
}

/** Created by a call of ours that seemed to fail: it is what we asked for and only has to be started. */
function mayStart(newest: ObservedContainer, { sandbox, triedAttempt, notStarted }: ContainerFacts): boolean {
  return (
    newest.state === 'created' &&
    newest.sandboxId === sandbox?.id &&
    newest.attempt === triedAttempt &&
    newest.id !== notStarted
  );
}

/** Before a successor is made: all but the newest that ended (kuberuntime_gc.go keeps one), and what never started. */
function mustGo(instance: ObservedContainer, instances: ObservedContainer[]): boolean {
  if (instance.state === 'created') return true;
  return instance !== instances.find((i) => i.state === 'exited');
}

/** Wait until a failed call may be tried again, ms. */
export function retryRemaining(retry: Retry | undefined, now: number): number {
  return retry ? Math.min(retry.delayMs, Math.max(0, retry.failedAt + retry.delayMs - now)) : 0;
}

/** Wait until the reason of a failed start gives way to the crash back-off's; undefined where it never does. */
export function reasonRemaining(retry: Retry | undefined, now: number): number | undefined {
  if (retry?.reasonMs === undefined || retry.reasonMs >= retry.delayMs) return undefined;
  return retryRemaining({ ...retry, delayMs: retry.reasonMs }, now);
}

/** The end that the crash back-off counts from: the newest instance's, in the current sandbox, not yet served. */
export function unservedCrash({
  instances,
  sandbox,
  servedAttempt = -1,
}: ContainerFacts): ObservedContainer | undefined {
  const [newest] = instances;
  if (newest?.state !== 'exited' || newest.sandboxId !== sandbox?.id || newest.attempt <= servedAttempt)
    return undefined;
  return newest;
}

/** Wait before a successor may start, ms (kuberuntime_manager.go:doBackOff). */
export function crashRemaining(facts: ContainerFacts, now: number): number {
  const crash = unservedCrash(facts);
  return crash ? backoffRemaining(facts.backoff, facts.ends[crash.id] ?? now, now) : 0;
}
