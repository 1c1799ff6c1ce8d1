import type { AgentEnv, ParentRef } from '../agent.types.ts';
import type { Container, DesiredPod, Probe } from '../kubernetes.types.ts';
import type { Slot } from '../slot.types.ts';

export type ProbeType = 'startup' | 'liveness' | 'readiness';

/** What the probes of one instance of a container have found for good so far; a probe that is absent has found nothing yet. */
export type Verdicts = { /** Container that was probed. */ id: string } & Partial<Record<ProbeType, boolean>>;

/** The verdicts on the newest probed instance of each container of a pod, by container name. */
export type KeptVerdicts = Readonly<Record<string, Verdicts>>;

export interface ProbeInput {
  env: AgentEnv;
  parent: ParentRef;
  type: ProbeType;
  /** With every default set (decode-pod.ts). */
  probe: Probe;
  pod: DesiredPod;
  container: Container;
  /** As events name the container: `spec.containers{name}`. */
  fieldPath: string;
  /** Instance that is probed. */
  id: string;
  /** When it started, in the process's own time, ms. */
  startedAt: number;
  /** The pod's address; undefined where it has none. */
  podIP?: string;
  /** The instance was there before the actor of its container. */
  adopted: boolean;
  /** The instance has a startup probe, which has succeeded. */
  hasStarted: boolean;
  /** What was found before this actor was made, by an earlier agent too. */
  verdict?: boolean;
}

/** Probe → container: a verdict that is new, or was kept at last. */
export interface ProbeJudged {
  type: 'probe.judged';
  probe: ProbeType;
  id: string;
  healthy: boolean;
  /** False: it could not be kept yet, which this probe tries again. */
  kept: boolean;
}

export interface RunProbeInput {
  type: ProbeType;
  probe: Probe;
  pod: DesiredPod;
  container: Container;
  /** Container that a command is run in. */
  id: string;
  /** Where HTTP, TCP and gRPC probes connect that name no host. */
  podIP?: string;
}

/** `warning`: healthy, with something to tell (a redirect to another host). `message`: what was seen, at most 10 KiB. */
export interface ProbeOutcome {
  result: 'success' | 'failure' | 'warning';
  message: string;
}

export interface ProbeSlots {
  /**
   * Probes once, within timeoutSeconds. Time that runs out is a failure; it rejects where the probe could not be made at all
   * (a port name that does not exist, a runtime that does not answer).
   */
  runProbe: Slot<RunProbeInput, ProbeOutcome>;
  /**
   * Adds to what is kept of the probes of a container, for an agent that is started later. Rejects where that cannot be
   * done, which the service tells of once.
   */
  keepVerdict: Slot<{ podUid: string; name: string; verdicts: Verdicts }, void>;
}
