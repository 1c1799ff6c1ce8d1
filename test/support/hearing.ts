import type { ActorLogic, AnyActorRef, EventObject, Snapshot } from 'xstate';

export type Told = { type: string; uid?: string };

/** A child that keeps what it is told; as `real` it is not replaced by a pending call (test/support/drive.ts). */
export const hearing: ActorLogic<Snapshot<unknown> & { told: Told[] }, EventObject> = {
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined, told: [] }),
  getPersistedSnapshot: (snapshot) => snapshot,
  transition: (snapshot, event) =>
    event.type === 'xstate.stop'
      ? { ...snapshot, status: 'stopped', output: undefined, error: undefined }
      : { ...snapshot, told: [...snapshot.told, event] },
};

/** What a `hearing` child was told; undefined where there is none. */
export const toldTo = (ref: AnyActorRef | undefined): Told[] | undefined =>
  (ref?.getSnapshot() as { told: Told[] } | undefined)?.told;
