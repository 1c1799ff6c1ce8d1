/**
 * Kubernetes objects as they stand on the wire: times are RFC 3339 strings and quantities are strings.
 * The field names come from the API's own client; only its types are used, nothing of it is loaded.
 */
import type {
  V1Pod,
  V1PodSpec,
  V1PodStatus,
  V1PodCondition,
  V1Container,
  V1Probe,
  V1ContainerStatus,
  V1ContainerState,
  V1ObjectMeta,
  V1PodList,
  V1Volume,
  V1VolumeMount,
  V1PodSecurityContext,
  V1SecurityContext,
  V1ResourceRequirements,
  V1Taint,
  V1Node,
  V1NodeAddress,
  V1NodeCondition,
  V1NodeStatus,
  V1Lease,
  CoreV1Event,
} from '@kubernetes/client-node';

/** `T` with every `Date` as the RFC 3339 string that JSON carries. */
export type Wire<T> = T extends Date
  ? string
  : T extends (infer U)[]
    ? Wire<U>[]
    : T extends object
      ? { [K in keyof T]: Wire<T[K]> }
      : T;

export type Pod = Wire<V1Pod>;
export type PodSpec = Wire<V1PodSpec>;
export type PodStatus = Wire<V1PodStatus>;
export type PodCondition = Wire<V1PodCondition>;
export type PodList = Wire<V1PodList>;
export type ObjectMeta = Wire<V1ObjectMeta>;
export type Container = Wire<V1Container>;
export type Probe = Wire<V1Probe>;
export type ContainerStatus = Wire<V1ContainerStatus>;
export type ContainerState = Wire<V1ContainerState>;
export type Volume = Wire<V1Volume>;
export type VolumeMount = Wire<V1VolumeMount>;
export type PodSecurityContext = Wire<V1PodSecurityContext>;
export type SecurityContext = Wire<V1SecurityContext>;
export type ResourceRequirements = Wire<V1ResourceRequirements>;
export type Taint = Wire<V1Taint>;
export type Node = Wire<V1Node>;
export type NodeStatus = Wire<V1NodeStatus>;
export type NodeCondition = Wire<V1NodeCondition>;
export type NodeAddress = Wire<V1NodeAddress>;
export type Lease = Wire<V1Lease>;
export type CoreEvent = Wire<CoreV1Event>;

/**
 * A pod after decoding and defaulting (machines/syncloop/policy/decode-pod.ts): everything that the
 * agent relies on is there, so no code asks twice whether a name or a UID exists.
 */
export type DesiredPod = Pod & {
  metadata: ObjectMeta & { name: string; namespace: string; uid: string };
  spec: PodSpec;
};
