import type { DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedPod } from '../../runtime.types.ts';
import type { KeptStop, KeptStops } from '../container.types.ts';
import type { Termination } from '../pod.types.ts';
import { allContainers } from './all-containers.ts';
import { givesWayFor } from './restart.ts';

/**
 * What is left of a stop that an earlier agent began, ms. The kept deadline is wall time: a clock that was set back since
 * gives no more than the whole grace, one that was set ahead no less than none.
 */
export function keptGraceLeft({ killAt, gracePeriodSeconds }: KeptStop, now: number): number {
  return Math.min(Math.max(0, killAt - now), gracePeriodSeconds * 1000);
}

/** Stops that were begun as a part of the pod's end, of containers that the runtime still has: all others are of old. */
function endings(stops: KeptStops, { containers }: ObservedPod): KeptStop[] {
  return Object.values(stops).filter(({ id, podEnd }) => podEnd && containers.some((c) => c.id === id));
}

/** Ids of the containers that an earlier agent stopped to run another: of a changed definition, or as a probe had failed. */
export function keptReplacements(stops: KeptStops = {}, { spec }: DesiredPod): string[] {
  return allContainers(spec).flatMap((container) => {
    const stop = stops[container.name];
    return stop && givesWayFor(stop.reason, container, spec) ? [stop.id] : [];
  });
}

/** Whether an earlier agent had begun to remove the pod: that end is finished, even where the pod is wanted again. */
export function removalBegan(stops: KeptStops | undefined, observed: ObservedPod | undefined): boolean {
  return stops !== undefined && observed !== undefined && endings(stops, observed).some((stop) => stop.podEnd?.removed);
}

/**
 * The end of a pod that an earlier agent had begun, with what is left of its grace; undefined where there is none.
 *
 * @param now wall clock, ms
 * @param elapsed this process's own time, ms: the grace's rest begins there
 */
export function keptEnd(
  stops: KeptStops,
  observed: ObservedPod,
  now: number,
  elapsed: number,
): Termination | undefined {
  const begun = endings(stops, observed);
  if (begun.length === 0) return undefined;
  const left = Math.min(...begun.map((stop) => keptGraceLeft(stop, now)));
  const failed = begun.find(({ podEnd }) => podEnd?.failed)?.podEnd?.failed;
  return {
    gracePeriodSeconds: Math.max(1, Math.ceil(left / 1000)),
    startedAt: elapsed,
    ...(failed && { failed }),
    ...(begun.some(({ podEnd }) => podEnd?.removed) && { removed: true }),
  };
}
