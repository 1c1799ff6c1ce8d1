import type { DesiredPod, PodStatus } from '../../kubernetes.types.ts';
import type { ObservedPod } from '../../runtime.types.ts';
import type { PodFailure } from '../container.types.ts';
import type { KeptVerdicts } from '../probe.types.ts';

/** All that a pod's status is made of. */
export interface PodStatusInput {
  pod: DesiredPod;
  observed: ObservedPod;
  /** By container name: why it is not running. */
  waiting: Readonly<Record<string, { reason: string; message: string }>>;
  /** Containers that are run again because their definition changed or a probe failed, however they ended. */
  replaced?: readonly string[];
  /** What probes have found, by container name. */
  verdicts?: KeptVerdicts;
  /** The status made before. */
  previous?: PodStatus;
  /** The pod is to end as Failed (DeadlineExceeded, Evicted …); shown once its containers are stopped. */
  failed?: PodFailure;
  terminating: boolean;
  /** Its containers can no longer run. */
  released: boolean;
  /** The pod ended by itself, for good, and not because somebody wanted it to end. */
  over?: boolean;
  /** The node's addresses, primary family first. */
  hostIPs: readonly string[];
  /** `containerd`: the scheme of container ids. */
  runtimeName: string;
  now: number;
}
