import type { AgentEnv, EventHappened, ParentRef } from '../agent.types.ts';
import type { DesiredPod } from '../kubernetes.types.ts';
import type { Slot } from '../slot.types.ts';

export interface ImagePullInput {
  env: AgentEnv;
  parent: ParentRef;
  pod: DesiredPod;
  /** spec.containers{name} for events. */
  fieldPath: string;
  image: string;
  imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  /** Back-off left by an earlier pull of the same pod and image, so that it survives this actor. */
  backoff?: ImageBackoff;
}

export interface ImageBackoff {
  delayMs: number;
  /** When the last failure happened, in the process's own time, ms. */
  failedAt: number;
  message: string;
}

/** Output of the machine once the image is present. */
export interface ImagePresent {
  imageRef: string;
}

/** Why there is no image yet, and the back-off that the container keeps for the next actor. */
export interface ImageWaiting {
  type: 'image.waiting';
  reason: string;
  message: string;
  backoff?: ImageBackoff;
}

/** imagePull → container. */
export type ImagePullReport = ImageWaiting | EventHappened;

export interface ImagePullSlots {
  /** ImageStatus; `undefined` where the image is absent. */
  inspectImage: Slot<{ image: string }, { imageRef: string; sizeBytes: number } | undefined>;
  /** Waits until a pull may begin (serializeImagePulls, maxParallelImagePulls, registryPullQPS). */
  takePullTurn: Slot<{ image: string; podUid: string }, void>;
  /** PullImage; one call in flight per image, all who ask share its answer. */
  pullImage: Slot<{ pod: DesiredPod; image: string }, { imageRef: string; sizeBytes: number }>;
}
