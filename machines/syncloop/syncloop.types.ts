import type { AgentEnv, EventHappened } from '../agent.types.ts';
import type { DesiredPod, PodStatus } from '../kubernetes.types.ts';
import type { LogRotationSettings } from '../node/log-rotation.types.ts';
import type { KeptStops } from '../pod/container.types.ts';
import type { KeptVerdicts } from '../pod/probe.types.ts';
import type { NodeView } from '../pod/policy/admit/admission.types.ts';
import type { PodRef, PodReport, PodSettings } from '../pod/pod.types.ts';
import type { ObservedContainer, ObservedPod, RuntimeEcho, RuntimeEvent, RuntimeListing } from '../runtime.types.ts';
import type { Slot } from '../slot.types.ts';
import type { ClusterReport, ClusterSettings } from './cluster.types.ts';
import type { HealthReport, SourceName, SourceSet } from './reports.types.ts';

export type { HealthReport, SourceName, SourceSet } from './reports.types.ts';

export interface SyncloopInput {
  env: AgentEnv;
  nodeName: string;
  /** Terminal statuses that were kept by an earlier agent, by pod UID. */
  ended: Record<string, PodStatus>;
  /** Stops that an earlier agent began, by pod UID. */
  stops: Record<string, KeptStops>;
  /** What probes had found, as an earlier agent kept it, by pod UID. */
  verdicts: Record<string, KeptVerdicts>;
  /**
   * Sources that were configured; nothing is judged absent before each has delivered once. With none at all nothing is
   * ever judged absent: an agent that was told of no pods ends none.
   */
  sources: SourceSettings[];
  settings: SyncloopSettings;
  /** The node as pods are judged against it when they come; what the API server has of it comes in later. */
  node: NodeView;
}

export type SourceSettings = { source: 'file' | 'http'; location: string; periodMs: number } | { source: 'api' };

export interface SyncloopSettings {
  pod: PodSettings;
  pleg: PlegSettings;
  /** Poll of the runtime's Status, ms (kubelet: 5000). */
  healthPeriodMs: number;
  /** Housekeeping period, ms (kubelet: 2000; sources ready first). */
  housekeepingPeriodMs: number;
  /** Rotation of containers' logs; undefined: it is off (containerLogMaxSize below zero). */
  logRotation?: LogRotationSettings;
  /** Runtime back-off while paused, ms (kubelet: 100 doubling to 5000). */
  pauseInitialMs: number;
  pauseMaxMs: number;
  /** Undefined without an API server. */
  cluster?: ClusterSettings;
}

/** pleg → syncloop. */
export type PlegReport =
  | { type: 'runtime.observed'; pod: ObservedPod }
  /** One container of a pod ended, as the stream told; the look that shows it to the full is still to come. */
  | { type: 'runtime.exited'; uid: string; container: ObservedContainer }
  /**
   * A whole listing ended; `uids` are all pods in it, `pods` says what they are called. Pods known before and not in it are
   * gone from the runtime; one that is in it and was never observed (it could not be looked at yet) still holds its name.
   */
  | { type: 'runtime.listed'; at: number; uids: string[]; pods: PodRef[] }
  | { type: 'runtime.listFailed'; message: string }
  | EventHappened;

/** syncloop → pleg. */
export type PlegRequest = { type: 'pod.inspect'; uid: string } | { type: 'list.now' };

export interface PlegSettings {
  /** Listing period without any event stream, ms (kubelet: 1000). */
  listPeriodMs: number;
  /** Listing period as auditor beside an event stream, ms (kubelet's evented mode: 300 000). */
  auditPeriodMs: number;
}

/** Counters that pleg keeps; exported as metrics later. */
export interface PlegCounters {
  events: number;
  listings: number;
  inspections: number;
  /** Changes that only the auditing listing found: the stream missed them. */
  missedEvents: number;
}

export interface PlegSlots {
  listRuntime: Slot<Record<string, never>, RuntimeListing>;
  /** One pod in full; a pod that the runtime has not is answered with empty lists. */
  observePod: Slot<{ uid: string; name: string; namespace: string }, ObservedPod>;
}

/**
 * What the event-stream callback actor (`watchRuntime`, fromCallback) sends to pleg. It reconnects by itself, is
 * bounded and coalesces by container: a flood never queues more than one entry a container.
 */
export type WatchRuntimeEvent =
  | { type: 'stream.opened'; kind: 'cri' | 'containerd' }
  /** No stream can be had from this runtime, or the stream broke; pleg lists by itself until it is opened again. */
  | { type: 'stream.lost'; message: string }
  | { type: 'runtime.event'; event: RuntimeEvent }
  /** Told instead of a `runtime.event` where the stream says how it ended and will tell when its record can be read. */
  | { type: 'runtime.exited'; uid: string; container: ObservedContainer }
  /** What the agent's own calls have shown: nothing has to be asked for that. */
  | { type: 'runtime.echo'; echo: RuntimeEcho };

export interface RuntimeHealthSlots {
  /** CRI Status: both conditions. */
  checkRuntime: Slot<Record<string, never>, { runtimeReady: boolean; networkReady: boolean; message: string }>;
}

export interface HousekeepingSlots {
  /**
   * Leftovers on disk and in cgroups of pods that are neither desired nor in the runtime; old instances of live
   * pods' containers beyond the newest dead one. Never anything of a pod in `keep`.
   */
  sweep: Slot<{ keep: string[] }, { removed: string[] }>;
}

export type SyncloopEvent =
  | SourceSet
  | PlegReport
  | HealthReport
  | PodReport
  | ClusterReport
  /** SIGTERM: stop acting, let effects in flight end, leave containers running. */
  | { type: 'agent.drain' };

/** What the servers and `statelet ps` read of a pod; kept by the syncloop, never rebuilt on reading. */
export interface PodEntry {
  uid: string;
  name: string;
  namespace: string;
  source?: SourceName;
  /** The newest desired pod; undefined for an orphan. */
  pod?: DesiredPod;
  status?: PodStatus;
  /** Told to end and to leave nothing behind: removed from its source, or an orphan. */
  ending: boolean;
  /** Its containers ended and its resources are given back: another pod may take its name. */
  released: boolean;
  /** The pod that holds its name and has to end first. */
  waitsFor?: string;
  /** Came again under the same UID while it was ending; started when the old one is gone. */
  again?: { pod: DesiredPod; source: SourceName };
  /** It was told to end, so that a critical pod fits. */
  preempted?: true;
  /** Not taken in: it has a status that says why, and no actor. */
  refused?: true;
}

export interface SyncloopSlots {
  /** The runtime answers Version: its name as in `containerID: <name>://…`. */
  openRuntime: Slot<Record<string, never>, { runtimeName: string }>;
  /** Every mutating effect in flight has settled, or the drain's time is over. */
  settleEffects: Slot<Record<string, never>, void>;
}
