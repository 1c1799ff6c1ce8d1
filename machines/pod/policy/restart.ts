import type { Container, DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedContainer } from '../../runtime.types.ts';
import { containerHash } from './container-hash.ts';
import { restartsAfter } from './pod-phase.ts';

/** What a container that ended without a record is taken to have ended with. */
const UNKNOWN_EXIT_CODE = 137;

/** Whether the container that ended is to be followed by another (container/helpers.go:ShouldContainerBeRestarted). */
export function restarts(pod: DesiredPod, container: Container, ended: ObservedContainer): boolean {
  const { exitCode = UNKNOWN_EXIT_CODE, reason } = ended;
  return restartsAfter(container, pod.spec, { exitCode, reason });
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
