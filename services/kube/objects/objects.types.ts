import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import type { ConfigObject, ObjectLookup, ObjectReference } from '../../../machines/pod/objects.types.ts';

export interface ObjectKey extends ObjectReference {
  namespace: string;
}

/** ConfigMaps and Secrets that pods of this node use. */
export interface ConfigObjects {
  /**
   * Keeps what the pod refers to current until the returned function is called. The listener hears of every version after
   * the first one. Never throws.
   */
  follow(pod: DesiredPod, changed: (reference: ObjectReference) => void): () => void;
  /**
   * The objects by reference, as new as the strategy makes them, and as they were last seen while the API server is away.
   *
   * @throws AgentError of the API where an object can be had from nowhere
   */
  read(namespace: string, references: readonly ObjectReference[], signal: AbortSignal): Promise<ObjectLookup>;
  /** Forgets what was kept for pods that are not in `keep`, and objects that no pod is left for. */
  sweep(keep: ReadonlySet<string>): Promise<void>;
}

/** Where objects are kept for an API server that is away; by what names them. */
export interface KeptObjects {
  read(key: ObjectKey): Promise<ConfigObject | undefined>;
  /** @param pods UIDs of the pods that use it */
  write(key: ObjectKey, object: ConfigObject, pods: readonly string[]): Promise<void>;
  remove(key: ObjectKey): Promise<void>;
  sweep(keep: ReadonlySet<string>): Promise<void>;
}

/** KubeletConfiguration configMapAndSecretChangeDetectionStrategy. */
export type ChangeDetection = 'Watch' | 'Cache' | 'Get';
