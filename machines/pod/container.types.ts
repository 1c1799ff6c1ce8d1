import type { AgentEnv, EventHappened, ParentRef } from '../agent.types.ts';
import type { Container, DesiredPod } from '../kubernetes.types.ts';
import type { ObservedContainer } from '../runtime.types.ts';
import type { ImageWaiting } from './image-pull.types.ts';
import type { ProbeJudged, Verdicts } from './probe.types.ts';
import type { Slot } from '../slot.types.ts';

/** `init`: runs to completion, in order. `sidecar`: an init container with restartPolicy Always. */
export type ContainerKind = 'init' | 'sidecar' | 'regular';

/** What planContainers wants of one container now. The container machine owns how to get there. */
export type ContainerPlan =
  /** Have an instance running in the pod's current sandbox; an exited newest instance is to be succeeded by another. */
  | { do: 'run'; reason: string }
  /** Leave it as it is: not its turn yet, or ended for good. `firstInTurn`: the pod's sandbox is all that it waits for. */
  | { do: 'hold'; reason: 'initializing' | 'completed' | 'podStopping' | 'noSandbox' | 'firstInTurn' }
  /** Stop the running instance. `message` is the Killing event's text. After it, the plan is made again. */
  | { do: 'stop'; reason: StopReason; message: string; gracePeriodSeconds: number; podEnd?: PodEndFact };

export type StopReason =
  'definitionChanged' | 'startupFailed' | 'livenessFailed' | 'stateUnknown' | 'podStopping' | 'sandboxLost';

/** Why a pod is made to fail. */
export interface PodFailure {
  reason: string;
  message: string;
  /** Message of the condition DisruptionTarget, where the node takes the pod's place from it. */
  disruption?: string;
}

/** What is to be known of the end of a pod that a stop belongs to: it was removed from its source, or is to be Failed. */
export interface PodEndFact {
  removed?: true;
  failed?: PodFailure;
}

/** A stop that was begun, as it is kept for an agent that is started before it is over. */
export interface KeptStop {
  /** Container that was asked to stop. */
  id: string;
  /** When its grace ends, ms since the epoch. */
  killAt: number;
  /** What it was given, s: no later agent gives more. */
  gracePeriodSeconds: number;
  reason: StopReason;
  /** Set where the whole pod was to end. */
  podEnd?: PodEndFact;
}

/** The last stop of each container of a pod, by container name. */
export type KeptStops = Readonly<Record<string, KeptStop>>;

/** The sandbox that containers are created in. */
export interface CurrentSandbox {
  id: string;
  attempt: number;
  ips: string[];
  /** The node's addresses, primary first. */
  hostIPs: string[];
}

export interface ContainerInput {
  env: AgentEnv;
  parent: ParentRef;
  pod: DesiredPod;
  container: Container;
  kind: ContainerKind;
  plan: ContainerPlan;
  sandbox?: CurrentSandbox;
  /** Instances of this name, newest first. */
  instances: ObservedContainer[];
  /** Highest attempt that a log file in the container's log directory bears; -1 for none. */
  highestLogAttempt: number;
  /** A stop of one of its instances that an earlier agent began. */
  keptStop?: KeptStop;
  /** What probes have found so far. */
  verdicts?: Verdicts;
  settings: ContainerSettings;
}

export interface ContainerSettings {
  /** Crash back-off, ms (10 s doubling to 300 s; maxContainerRestartPeriod). */
  backoffInitialMs: number;
  backoffMaxMs: number;
  /** Wait before a failed create or start is tried again and before another look at a runtime that did not answer. */
  retryMs: number;
}

/** Pod → container: everything pushed down at once (level-triggered), whenever any of it changed. */
export interface ContainerDesired {
  type: 'container.desired';
  pod: DesiredPod;
  container: Container;
  plan: ContainerPlan;
  sandbox?: CurrentSandbox;
  instances: ObservedContainer[];
}

export type ContainerEvent =
  | ContainerDesired
  /** An object of the API that the pod refers to has changed: a container that could not be configured tries again. */
  | { type: 'objects.changed' }
  /** From the imagePull child: why the pull waits (ErrImagePull, ImagePullBackOff …). */
  | ImageWaiting
  | ProbeJudged
  | EventHappened;

/**
 * Container → pod: the answer of its own call (echo), or why it waits. `instance` undefined with `gone` set means
 * that the runtime no longer has the container with this id.
 */
export interface ContainerChanged {
  type: 'container.changed';
  name: string;
  instance?: ObservedContainer;
  gone?: { id: string; at: number };
  /** Why it is not running; cleared (undefined) when it runs or ended. */
  waiting?: { reason: string; message: string };
  /** True from the start of a mutating call until it settled. */
  busy: boolean;
}

/** Container → pod: probes of its running instance have found something new. */
export interface ContainerProbed {
  type: 'container.probed';
  name: string;
  verdicts: Verdicts;
}

export interface CreateContainerInput {
  pod: DesiredPod;
  container: Container;
  kind: ContainerKind;
  attempt: number;
  sandbox: CurrentSandbox;
  /** What the runtime calls the pulled image (id or digest reference). */
  imageRef: string;
}

/** The effects of a container; services/cri fills them (containerSlots). All idempotent, all with deadlines. */
export interface ContainerSlots {
  /** Directories, mounts and config, then CreateContainer. A name reserved for another id rejects with `NameReserved`. */
  createContainer: Slot<CreateContainerInput, { id: string }>;
  /** StartContainer, then a fresh look at it: its new state, or a rejection with RunContainerError. */
  startContainer: Slot<{ pod: DesiredPod; container: Container; id: string }, ObservedContainer>;
  /**
   * Keeps the stop as a fact, then StopContainer with the grace, then a fresh look; `undefined` where the runtime no longer
   * has it. A fact that cannot be kept is told and keeps from no stop.
   */
  stopContainer: Slot<{ pod: DesiredPod; name: string } & KeptStop, ObservedContainer | undefined>;
  /** All instances of this name in this pod, fresh, newest first. */
  inspectContainer: Slot<{ podUid: string; name: string }, ObservedContainer[]>;
  /** RemoveContainer and its log file; done where it is gone already. */
  removeContainer: Slot<{ id: string; logPath: string }, void>;
}
