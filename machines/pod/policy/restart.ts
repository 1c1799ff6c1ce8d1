import type { Container, DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedContainer } from '../../runtime.types.ts';
import { containerHash } from './container-hash.ts';
import { restartsAfter } from './pod-phase.ts';
import { allContainers } from './all-containers.ts';

/** What a container that ended without a record is taken to have ended with. */
const UNKNOWN_EXIT_CODE = 137;

/** Whether the container that ended is to be followed by another (container/helpers.go:ShouldContainerBeRestarted). */
export function restarts(pod: DesiredPod, container: Container, ended: ObservedContainer): boolean {
  const { exitCode = UNKNOWN_EXIT_CODE, reason } = ended;
  return restartsAfter(container, pod.spec, { exitCode, reason });
}

/**
 * Whether an end that only the event stream has told of may be acted on: where the container is run again anyway. Any
 * other end waits for the runtime's record, which has its reason and message to the full.
 */
export function willFollow(facts: { pod: DesiredPod; termination?: object }, ended: ObservedContainer): boolean {
  const { spec } = facts.pod;
  const container = allContainers(spec).find(({ name }) => name === ended.name);
  return facts.termination === undefined && container !== undefined && restarts(facts.pod, container, ended);
}

/** Image or name differ from those it was made with; another program's container has no hash to differ. */
export function isChanged(container: Container, { hash }: ObservedContainer): boolean {
  return hash !== '' && hash !== containerHash(container);
}

/**
 * Whether an instance was ever a process. One that was made but not started was not, nor one that the runtime could not
 * start, for example because its sandbox had died meanwhile (B016).
 */
export function hasRun({ state, startedAt }: ObservedContainer): boolean {
  return state === 'running' || state === 'unknown' || (state === 'exited' && startedAt !== undefined);
}
