import { containerReasons } from './cause-container.ts';
import { podReasons } from './cause-pod.ts';
import type { OwnReasons, Reasons, Step } from './cause.types.ts';
import type { Cause } from './live.types.ts';

const MACHINES: Readonly<Record<string, OwnReasons>> = { pod: podReasons, container: containerReasons };
/** Effects that only look: after a failed call, what follows is still for the failure. */
const LOOKS = /^(inspect|observe|read|get|find)/;
const DONE = 'xstate.done.actor.';
const ERROR = 'xstate.error.actor.';
const AFTER = 'xstate.after.';

/** The reasons after a step. Pure: the same step has the same reasons. */
export function reasonsAfter(step: Step): Reasons {
  const { machine, event, reasons, before } = step;
  const { type } = event;
  if (type === 'xstate.stop') return reasons;
  const knows = MACHINES[machine];
  const known = knows?.(step) ?? {};
  const own = known.own ?? generalReason(step, knows !== undefined);
  const next: Reasons = { own, ending: 'ending' in known ? known.ending : reasons.ending };
  const failure = known.failure ?? failureOf(step) ?? (next.ending || !before ? undefined : lasting(step, own));
  return failure ? { ...next, failure } : next;
}

/** The one to show: who asked, or what failed just now. */
export const causeNow = ({ own, ending, failure }: Reasons): Cause => failure ?? ending ?? own;

/** A failure is the reason until something that changes things succeeds, or something else happens. */
function lasting({ event: { type }, reasons, effect }: Step, own: Cause): Cause | undefined {
  if (own !== reasons.own) return undefined;
  if (type.startsWith(DONE) && !LOOKS.test(effect(type.slice(DONE.length)) ?? '')) return undefined;
  return reasons.failure;
}

function failureOf({ event, effect }: Step): Cause | undefined {
  if (!event.type.startsWith(ERROR)) return undefined;
  const { actorId = '', error } = event as { actorId?: string; error?: { reason?: unknown } };
  const src = effect(actorId);
  if (src === undefined) return { by: 'fault', detail: `${actorId} failed; another takes its place` };
  // The reason only: a message may hold anything.
  const reason = typeof error?.reason === 'string' ? error.reason : 'Unexpected';
  return { by: 'effectFailed', detail: `${src}: ${reason}` };
}

/** What can be read from the event alone. A machine that knows its reasons goes on for them when a timer or a call ends. */
function generalReason({ event, reasons, asked }: Step, keepsOwn: boolean): Cause {
  const { type } = event;
  if (type === 'xstate.init') return asked();
  if (type.startsWith(DONE) || type.startsWith(ERROR)) return reasons.own;
  if (type.startsWith(AFTER)) {
    const [delay = ''] = type.slice(AFTER.length).split('.');
    return keepsOwn ? reasons.own : { by: 'timer', detail: `${delay} is over` };
  }
  switch (type) {
    case 'agent.drain':
    case 'cluster.drain':
      return { by: 'drain', detail: 'the agent was asked to stop' };
    case 'health.changed':
      return healthReason((event as { health?: unknown }).health);
    case 'source.set':
      return { by: 'source', detail: `the ${String((event as { source?: unknown }).source)} source delivered` };
    case 'runtime.listed':
      return { by: 'listing', detail: 'the runtime was listed' };
    case 'node.shutdown':
      return { by: 'nodeShutdown', detail: 'the host shuts down' };
    default:
      return keepsOwn ? reasons.own : { by: 'event', detail: type };
  }
}

function healthReason(health: unknown): Cause {
  if (health === 'healthy') return { by: 'runtimeBack', detail: 'the runtime is healthy' };
  if (health === 'networkNotReady') return { by: 'networkLost', detail: "the runtime's pod network is not ready" };
  return { by: 'runtimeLost', detail: 'the runtime is not healthy' };
}
