import type { SnapshotView } from './actor-view.ts';
import type { Cause } from './live.types.ts';

/** For what an actor does what it does. */
export interface Reasons {
  /** What it was last asked for, or what last happened to it. */
  own: Cause;
  /** Who asked for its end; nothing later takes its place. */
  ending?: Cause;
  /** An effect has just failed; what is done about that is done for it. */
  failure?: Cause;
}

/** One step of an actor, as far as its cause can be read from it. */
export interface Step {
  machine: string;
  event: { type: string };
  /** Undefined: the actor has just begun. */
  before?: SnapshotView;
  after: SnapshotView;
  reasons: Reasons;
  /** The parent's reason, for which children are told things. */
  asked(): Cause;
  /** Slot name of the effect with this id. */
  effect(id: string): string | undefined;
}

/** What the machine itself knows better; fields left out stay as they were. */
export type OwnReasons = (step: Step) => Partial<Reasons>;
