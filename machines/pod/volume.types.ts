import type { AgentEnv, EventHappened, ParentRef } from '../agent.types.ts';
import type { DesiredPod, Volume } from '../kubernetes.types.ts';
import type { Slot } from '../slot.types.ts';

export interface VolumeInput {
  env: AgentEnv;
  parent: ParentRef;
  pod: DesiredPod;
  volume: Volume;
  /** How often what it shows is read anew where nobody tells of changes, ms; undefined: somebody does. */
  refreshPeriodMs?: number;
}

/** Pod → volume. */
export type VolumeEvent =
  /** The pod's metadata changed. */
  | { type: 'volume.desired'; pod: DesiredPod }
  /** An object of the API that it shows has changed. */
  | { type: 'volume.stale' }
  /** The pod is to end: nothing is mounted and nothing written any more. */
  | { type: 'volume.hold' };

/** Volume → pod. */
export interface VolumeChanged {
  type: 'volume.changed';
  name: string;
  /** It can be bound into containers; stays so when a refresh fails. */
  mounted: boolean;
  /** True from the start of a mutating effect until it settled. */
  busy: boolean;
}

export type VolumeReport = VolumeChanged | EventHappened;

export interface VolumeSlots {
  /**
   * Mounts the volume and writes what it shows, as one; done where nothing changed. Answers when it is due again because a
   * token in it gets old.
   */
  mountVolume: Slot<{ pod: DesiredPod; volume: Volume }, { refreshAfterMs?: number }>;
}
