import type { DesiredPod, Taint } from '../../../kubernetes.types.ts';

export type PressureCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** What a pod is judged against: the Node object as this agent has or would register it, and its own settings. */
export interface NodeView {
  /** metadata.name. */
  name: string;
  /** metadata.labels. */
  labels: Readonly<Record<string, string>>;
  /** spec.taints. */
  taints: readonly Taint[];
  /** Of the host, in the API's words (linux; amd64, arm64 …): they hold whatever the labels say. */
  operatingSystem: string;
  architecture: string;
  /** status.allocatable: quantities by resource name, `pods` among them. What is not named is not there. */
  allocatable: Readonly<Record<string, string>>;
  /** status.features.supplementalGroupsPolicy: the runtime can do without the groups of the image's /etc/group. */
  supplementalGroupsPolicy: boolean;
  /** The conditions that eviction has found, in its order. */
  pressure: readonly PressureCondition[];
  /** As `uname -r` says it. */
  kernelVersion: string;
  /** KubeletConfiguration allowedUnsafeSysctls: names, or beginnings of names that end in `*`. */
  allowedUnsafeSysctls: readonly string[];
  /** A graceful shutdown of the node has begun. */
  shuttingDown: boolean;
}

export interface AdmissionView {
  node: NodeView;
  /**
   * The admitted pods that still hold what they ask for: those that are being stopped are among them until all their
   * containers have ended, but not those that were preempted, whose share is given away already.
   */
  active: readonly DesiredPod[];
}

export interface Rejection {
  /** As in facts/admission.tsv; the pod's status.reason and the reason of its event. */
  reason: string;
  /** The event's message. */
  message: string;
}

export type Admission =
  /** `preempt`: pods (UIDs) that must have ended before this one may start, the least important first. */
  | { admitted: true; preempt?: string[] }
  /** `stale`: nothing but the node's labels is in the way, so the Node is to be read anew and the pod judged once more. */
  | ({ admitted: false; stale?: true } & Rejection);
