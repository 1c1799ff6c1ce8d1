import type { AgentEnv, ParentRef } from '../agent.types.ts';
import type { DesiredPod, Pod, PodStatus } from '../kubernetes.types.ts';
import type { Slot } from '../slot.types.ts';
import type { ApiPod, ApiPods } from './api-source.types.ts';
import type { SourceName } from './reports.types.ts';

export interface StatusWriterInput {
  env: AgentEnv;
  parent: ParentRef;
}

/** What the agent has of a pod; the newest counts. */
export interface WantedPod {
  pod: DesiredPod;
  source: SourceName;
  /** Undefined as long as none was made. */
  status?: PodStatus;
  /** Nothing of it runs and nothing is held for it: its object may go. */
  released: boolean;
  /** It is to end and nobody wants it again: no mirror pod is made for it any more. */
  ending?: boolean;
}

/** syncloop → statusWriter. */
export type StatusWriterEvent =
  /** Sent whenever one of its fields changed. */
  | ({ type: 'pod.wanted'; uid: string } & WantedPod)
  /** The agent has it no more. */
  | { type: 'pod.forgotten'; uid: string }
  | ApiPods
  /** The Node object is there: mirror pods belong to it. */
  | { type: 'node.known'; uid: string }
  | { type: 'node.absent' }
  /** Every source has delivered: a mirror pod without its static pod has none. */
  | { type: 'sources.ready' };

/** Errors that matter here by their `reason`: NotFound, Conflict, AlreadyExists. */
export interface PodWriterSlots {
  /**
   * Patches the status subresource with what differs from `before` to `status` (strategic merge), for this UID alone: another
   * pod of the name is Conflict, none is NotFound. Answers what the API has then.
   */
  patchStatus: Slot<
    { namespace: string; name: string; uid: string; before?: PodStatus; status: PodStatus },
    { resourceVersion: string; status: PodStatus }
  >;
  getPod: Slot<{ namespace: string; name: string }, Pod | undefined>;
  /** Deletes with grace 0 and this UID as precondition; done where it is gone or another pod has its name. */
  deletePod: Slot<{ namespace: string; name: string; uid: string }, void>;
  /** Creates the mirror pod of a static pod, which the Node owns. Answers the object that the API has then. */
  createMirror: Slot<{ pod: DesiredPod; nodeUid: string }, Pod>;
  /** As deletePod. */
  deleteMirror: Slot<{ namespace: string; name: string; uid: string }, void>;
}

export interface PodWriterInput {
  env: AgentEnv;
  /** For Kubernetes events alone. */
  parent: ParentRef;
  namespace: string;
  name: string;
  /** Undefined: a mirror pod whose static pod nobody has. */
  wanted?: WantedPod;
  /** What the API has; undefined where it has none, or where the API has not been heard. */
  api?: ApiPod;
  /** The newest resourceVersion heard of the API; undefined: it has not been heard. */
  heard?: string;
  /** UID of the Node; undefined while there is none. */
  nodeUid?: string;
}

/** statusWriter → podWriter. */
export type PodWriterEvent =
  | { type: 'status.wanted'; wanted: WantedPod }
  /** The agent has the pod no more. */
  | { type: 'status.unwanted' }
  /** The API has this of the pod now: for a static pod, of the mirror pod under its name. */
  | { type: 'api.pod'; heard: string; pod: ApiPod | undefined }
  | { type: 'node.changed'; uid: string | undefined };
