import type { AgentEnv, EventHappened, ParentRef } from '../agent.types.ts';
import type { DesiredPod, PodStatus } from '../kubernetes.types.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../runtime.types.ts';
import type { Slot } from '../slot.types.ts';
import type { ObjectReference } from './objects.types.ts';
import type { VolumeChanged } from './volume.types.ts';
import type {
  ContainerChanged,
  ContainerPlan,
  ContainerProbed,
  ContainerSettings,
  KeptStops,
  PodFailure,
} from './container.types.ts';
import type { KeptVerdicts } from './probe.types.ts';

/** What a pod is told about the end that others want for it. Grace only ever shrinks. */
export interface TerminationRequest {
  /** Override; undefined: the pod's deletion grace, else its spec's. */
  gracePeriodSeconds?: number;
  /** Phase Failed with this reason and message (DeadlineExceeded, Evicted …); undefined: the phase follows the containers. */
  failed?: PodFailure;
  /** Nobody wants it: all that it was to run has ended for good. */
  over?: boolean;
}

export interface PodInput {
  env: AgentEnv;
  parent: ParentRef;
  /**
   * `undefined` for an orphan: a pod that only the runtime knows; it is terminated with its recorded grace
   * (else 1 s) and removed.
   */
  pod?: DesiredPod;
  uid: string;
  name: string;
  namespace: string;
  observed: ObservedPod;
  /** Stops of its containers that an earlier agent began. */
  keptStops?: KeptStops;
  /** What probes of its containers have found, by what an earlier agent kept. */
  keptVerdicts?: KeptVerdicts;
  /** Set where another pod of the same full name has not ended yet; `predecessor.gone` clears it. */
  predecessorUid?: string;
  /** The runtime's word on the pod network when the actor is made. */
  networkReady: boolean;
  settings: PodSettings;
}

export interface PodSettings extends ContainerSettings {
  /** The node's addresses, for hostIP and hostNetwork pods. */
  hostIPs: string[];
  /** As in containerID `<runtimeName>://<id>`; the runtime's own name. */
  runtimeName: string;
  /** How often volumes and environments of the API's objects are read anew, ms; undefined: a watch tells of changes. */
  refreshPeriodMs?: number;
  /** Wait before a failed sandbox or clean-up is tried again, ms (kubelet: 10 s; network not ready 1 s). */
  podRetryMs: number;
}

/** The pod's plan: its sandbox, its end, and each container. Made by planContainers. */
export interface PodPlan {
  /** `create`: there is none that can be used; `attempt` is the new one's number. */
  sandbox: { do: 'keep'; id: string } | { do: 'create'; attempt: number; reason: string } | { do: 'none' };
  /** All that the pod was to run has ended for good: stop the sandbox, report the terminal phase. */
  finished: boolean;
  /**
   * Ids of the instances that give way, or gave way, to another one, for a changed definition or a failed probe: they are
   * followed by one.
   */
  replaced: readonly string[];
  /** By container name, every container of the spec. */
  containers: Record<string, ContainerPlan>;
}

/** The end of a pod that has begun. */
export interface Termination {
  gracePeriodSeconds: number;
  /** When it began, ms of the process's own time; later requests only shorten the grace, they do not start it anew. */
  startedAt: number;
  failed?: PodFailure;
  /** The pod ended by itself. */
  over?: boolean;
  /** It is gone from its source. */
  removed?: true;
}

export type PodEvent =
  /** The spec or metadata changed at its source. */
  | { type: 'pod.desired'; pod: DesiredPod }
  /** End it: deletion with grace, eviction, deadline. May come again with a shorter grace. */
  | { type: 'pod.terminate'; request: TerminationRequest }
  /** Gone from its source (manifest removed, object deleted): end it and leave nothing of it behind. */
  | { type: 'pod.removed' }
  | { type: 'pod.observed'; observed: ObservedPod }
  /** The stream told how a container ended, before the runtime's records show it. */
  | { type: 'container.exited'; container: ObservedContainer }
  | { type: 'predecessor.gone' }
  /** The runtime's health, pushed down: false holds back the start of sandboxes that need the pod network. */
  | { type: 'network.ready'; ready: boolean }
  /** The node's addresses, primary first. */
  | { type: 'node.addressed'; hostIPs: string[] }
  | ObjectChanged
  | VolumeChanged
  | ContainerChanged
  | ContainerProbed
  | EventHappened;

/** From the watch of the objects that the pod refers to: one of them has changed, or is there now. */
export interface ObjectChanged {
  type: 'object.changed';
  reference: ObjectReference;
}

/** Input of the `followObjects` callback actor. */
export interface FollowObjectsInput {
  pod: DesiredPod;
}

/** Pod → syncloop. */
export type PodReport =
  | { type: 'pod.status'; uid: string; status: PodStatus }
  /** Please look at this pod now (own-call echo that could not be had from the call itself). */
  | { type: 'pod.inspect'; uid: string }
  /** The pod's containers all ended and its resources are released; a successor of the same name may start. */
  | { type: 'pod.released'; uid: string }
  | EventHappened;

export interface PodRef {
  uid: string;
  name: string;
  namespace: string;
}

export interface PodSlots {
  /** The pod's cgroup, with its limits. */
  ensureCgroup: Slot<{ pod: DesiredPod }, void>;
  /** Pod, volume, container and log directories; answers the highest log file number per container. */
  makeDirectories: Slot<{ pod: DesiredPod }, { highestLogAttempt: Record<string, number> }>;
  /** RunPodSandbox, then a fresh look at it. */
  runSandbox: Slot<{ pod: DesiredPod; attempt: number }, ObservedSandbox>;
  /** StopPodSandbox; done where it is gone. */
  stopSandbox: Slot<{ id: string }, void>;
  /** A fresh listing of this pod alone: the proof before release. */
  observePod: Slot<PodRef, ObservedPod>;
  /**
   * Volumes unmounted, cgroup removed. Idempotent. `leftovers`: processes that the runtime left in the cgroup, of a start
   * that it gave up.
   */
  releasePod: Slot<PodRef & { pod?: DesiredPod; leftovers: 'keep' | 'kill' }, void>;
  /**
   * Keeps the pod's terminal status as a fact, so that an agent that is started later knows that the pod is over even
   * when nothing of it is left in the runtime.
   */
  recordEnd: Slot<PodRef & { status: PodStatus | undefined }, void>;
  /** Containers, sandboxes, log directory and pod directory of a pod that is gone. Idempotent. */
  removePod: Slot<PodRef & { pod?: DesiredPod; containers: ObservedContainer[]; sandboxes: ObservedSandbox[] }, void>;
}
