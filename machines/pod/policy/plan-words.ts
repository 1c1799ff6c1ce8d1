import type { ContainerPlan, StopReason } from '../container.types.ts';

type HoldReason = Extract<ContainerPlan, { do: 'hold' }>['reason'];

/** Why a container is left as it is, as a clause about it. */
export const HOLD_WORDS: Readonly<Record<HoldReason, string>> = {
  initializing: 'its turn to start has not come',
  completed: 'it has ended and is not to run again',
  podStopping: 'its pod is to end',
  noSandbox: 'its pod has no sandbox to run in',
  firstInTurn: 'its pod has no sandbox to run in',
};

/** Why a container is stopped, as a clause. */
export const STOP_WORDS: Readonly<Record<StopReason, string>> = {
  podStopping: 'its pod is to end',
  definitionChanged: 'its definition changed',
  startupFailed: 'its startup probe failed',
  livenessFailed: 'its liveness probe failed',
  sandboxLost: 'the sandbox that it runs in is not the one of its pod any more',
  stateUnknown: 'the runtime does not know its state',
};
