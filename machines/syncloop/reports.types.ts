import type { EventHappened } from '../agent.types.ts';
import type { DesiredPod, PodStatus } from '../kubernetes.types.ts';

export type SourceName = 'file' | 'http' | 'api';

/** One source's whole answer: every pod it has now. A manifest that is wrong is reported apart and changes nothing. */
export interface SourceSet {
  type: 'source.set';
  source: SourceName;
  pods: DesiredPod[];
  /**
   * What could not be used, one line each with file and field. A pod that ran before from the same origin goes on
   * with its last good manifest: the source keeps it in `pods`.
   */
  problems: { origin: string; message: string }[];
  /**
   * What an earlier agent kept, from a source that cannot be reached yet: its pods run, but it has not delivered, so that
   * nothing is judged absent.
   */
  recalled?: true;
  /**
   * Of the API, the first time that it is heard: what mirror pods said of their static pods, by config.hash. A static pod goes
   * on from there, as a pod of the API does from its status.
   */
  mirrors?: Record<string, PodStatus>;
}

/** runtimeHealth → syncloop. */
export type HealthReport =
  { type: 'health.changed'; health: 'healthy' | 'networkNotReady' | 'unhealthy'; message: string } | EventHappened;
