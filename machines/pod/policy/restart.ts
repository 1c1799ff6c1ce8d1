import type { Container, DesiredPod, PodSpec } from '../../kubernetes.types.ts';
import type { ObservedContainer } from '../../runtime.types.ts';
import { containerHash } from './container-hash.ts';
import type { StopReason } from '../container.types.ts';
import type { Verdicts } from '../probe.types.ts';
import { restartsAfter } from './pod-phase.ts';
import { failedProbe, isFollowed, PROBE_STOPS } from './probe-verdict.ts';
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
function isChanged(container: Container, { hash }: ObservedContainer): boolean {
  return hash !== '' && hash !== containerHash(container);
}

/** Why a running instance is to end while its pod goes on: its definition changed, or a probe failed. */
export function reasonToEnd(
  container: Container,
  instance: ObservedContainer,
  verdicts: Verdicts | undefined,
): 'definitionChanged' | 'startupFailed' | 'livenessFailed' | undefined {
  if (instance.state !== 'running') return undefined;
  if (isChanged(container, instance)) return 'definitionChanged';
  const probe = failedProbe(container, instance, verdicts);
  return probe && PROBE_STOPS[probe];
}

/** Whether what is stopped for this reason is followed by another instance, however it ended. */
export function givesWayFor(reason: StopReason | undefined, container: Container, spec: PodSpec): boolean {
  if (reason === 'definitionChanged') return true;
  return (reason === 'startupFailed' || reason === 'livenessFailed') && isFollowed(container, spec);
}

/**
 * Whether an instance was ever a process. One that was made but not started was not, nor one that the runtime could not
 * start, for example because its sandbox had died meanwhile (B016).
 */
export function hasRun({ state, startedAt }: ObservedContainer): boolean {
  return state === 'running' || state === 'unknown' || (state === 'exited' && startedAt !== undefined);
}
