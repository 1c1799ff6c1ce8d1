import type { AgentEnv, ParentRef } from '../agent.types.ts';
import type { DesiredPod, Pod, PodStatus } from '../kubernetes.types.ts';
import type { Slot } from '../slot.types.ts';

export interface ApiSourceInput {
  env: AgentEnv;
  parent: ParentRef;
  nodeName: string;
}

export interface ApiSourceSlots {
  /** Every pod bound to this node, mirror pods too (`spec.nodeName=<node>`), as the store has it: never a stale cache's answer. */
  listPods: Slot<{ nodeName: string }, { resourceVersion: string; items: Pod[] }>;
  /** Pods of the API as an earlier agent kept them, for an API server that is away at boot. */
  recallPods: Slot<Record<string, never>, Pod[]>;
  /** Keeps pods whose objects are new, each under its UID, and forgets those that the API has no more. Idempotent. */
  keepPods: Slot<{ keep: Pod[]; forget: string[] }, void>;
}

/** Input of the `watchPods` callback actor, which follows one watch from this resourceVersion and is then over. */
export interface WatchPodsInput {
  nodeName: string;
  resourceVersion: string;
}

export interface PodWatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: Pod;
}

/** What the `watchPods` callback actor sends. */
export type WatchPodsEvent =
  /** What came in one turn of the event loop, in the server's order. */
  | { type: 'watch.batch'; events: PodWatchEvent[] }
  /** The server ended it, or with `message`: it failed. It is begun again where it ended. */
  | { type: 'watch.ended'; message?: string }
  /** The server has no more what happened since (410 Expired): only a listing tells. */
  | { type: 'watch.expired' };

/** One pod as the API has it, as far as the writer of its status needs it. */
export interface ApiPod {
  uid: string;
  name: string;
  namespace: string;
  resourceVersion: string;
  status?: PodStatus;
  deletionTimestamp?: string;
  /** A mirror pod: the config.hash of the static pod that it shows. */
  mirrorHash?: string;
  /** It asks for what the agent cannot do: it is not delivered as a pod to run, and its status says why. */
  refused?: { pod: DesiredPod; message: string };
}

/** apiSource → syncloop → statusWriter: the whole set as the API has it for this node; an unchanged pod is the same object. */
export interface ApiPods {
  type: 'api.pods';
  /** The newest that the source has seen: a pod that is absent did not exist then. */
  resourceVersion: string;
  pods: ApiPod[];
}
