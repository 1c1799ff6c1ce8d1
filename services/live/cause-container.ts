import type { ContainerPlan } from '../../machines/pod/container.types.ts';
import type { ObservedContainer } from '../../machines/runtime.types.ts';
import type { OwnReasons, Step } from './cause.types.ts';
import { exitCause, newExits } from './cause-exit.ts';
import type { Cause } from './live.types.ts';

/** What is read of a container's context. */
interface Seen {
  plan: ContainerPlan;
  instances: readonly ObservedContainer[];
  stop?: { id: string; reason: string };
  /** What the call in flight is about. */
  target?: { id: string };
}

/** Why one container does what it does: its pod's reason, or how its instance ended, or why it alone is stopped. */
export const containerReasons: OwnReasons = (step) => {
  const { event, reasons, asked } = step;
  const after = step.after.context as Seen;
  const before = step.before?.context as Seen | undefined;
  const reason = stopReason(before, after);
  if (reason !== undefined) {
    const ending = stopCause(reason, step);
    return { own: ending, ending };
  }
  if (!before) return { own: after.instances.length > 0 ? FOUND : asked() };
  const exit = newExits(before.instances, after.instances)[0] ?? endedAtOnce(before, after);
  if (exit && exit.id !== after.stop?.id) return { own: exitCause(exit), ending: undefined };
  if (event.type === 'image.waiting') {
    const { reason: why = 'ErrImagePull' } = event as { reason?: string };
    return { failure: { by: 'effectFailed', detail: `image: ${why}` } };
  }
  // It was stopped alone, and is started again for what it was stopped for.
  if (after.plan.do === 'run' && reasons.ending) return { ending: undefined };
  const isTurn = before.plan.do === 'hold' && after.plan.do === 'run';
  const isHeld = before.plan.do === 'run' && after.plan.do === 'hold' && after.plan.reason === 'podStopping';
  return isTurn || isHeld ? { own: asked() } : {};
};

const FOUND: Cause = { by: 'restart', detail: 'found as it was when the agent started' };

/** The instance that was being started and had ended before anybody saw it run. */
function endedAtOnce({ instances, target }: Seen, after: Seen): ObservedContainer | undefined {
  if (target === undefined || instances.some(({ id }) => id === target.id)) return undefined;
  return after.instances.find(({ id, state }) => id === target.id && state === 'exited');
}

/** Why a stop has begun with this step; undefined where none has. */
function stopReason(before: Seen | undefined, { plan, stop }: Seen): string | undefined {
  if (plan.do === 'stop') {
    const known = before?.plan.do === 'stop' ? before.plan.reason : undefined;
    return plan.reason === known ? undefined : plan.reason;
  }
  return before && stop && stop.id !== before.stop?.id ? stop.reason : undefined;
}

function stopCause(reason: string, { asked }: Step): Cause {
  switch (reason) {
    case 'podStopping':
      return asked();
    case 'definitionChanged':
      return { by: 'manifestChange', detail: 'its definition changed' };
    case 'sandboxLost':
      return { by: 'sandboxChanged', detail: 'the sandbox of the pod is not the one it runs in' };
    case 'stateUnknown':
      return { by: 'runtimeLost', detail: 'the runtime does not know its state' };
    case 'startupFailed':
      return { by: 'probe', detail: 'its startup probe failed' };
    case 'livenessFailed':
      return { by: 'probe', detail: 'its liveness probe failed' };
    default:
      return { by: reason };
  }
}
