import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine } from 'xstate';

type Args = { context: unknown; event: { type: string } };
/** A guard as XState keeps it: by name, with what it is told, combined of others, or a function. */
type Guard = string | { type: string; params?: unknown } | (((args: Args, params?: unknown) => boolean) & Combined);
interface Combined {
  check?: { name: string };
  guards?: readonly Guard[];
}

/**
 * Whether a guard of the actor's machine holds now, by its name. Guards are pure: asking changes nothing. Undefined where
 * there is no such guard, or it looks at an event, which is not there.
 */
export function guardHolds(actor: AnyActorRef, name: string): boolean | undefined {
  const { machine, context } = actor.getSnapshot() as AnyMachineSnapshot & { machine?: AnyStateMachine };
  const all = (machine?.implementations.guards ?? {}) as Readonly<Record<string, Guard | undefined>>;
  const event = new Proxy({ type: '' }, { get: (_, key) => (key === 'type' ? notThere() : undefined) });
  const evaluate = (guard: Guard | undefined, params?: unknown): boolean => {
    if (guard === undefined) return notThere();
    if (typeof guard === 'string') return evaluate(all[guard], params);
    if (typeof guard !== 'function') return evaluate(all[guard.type], guard.params);
    const { check, guards } = guard;
    if (!guards) return guard({ context, event }, params);
    if (check?.name === 'checkAnd') return guards.every((each) => evaluate(each));
    if (check?.name === 'checkOr') return guards.some((each) => evaluate(each));
    return check?.name === 'checkNot' ? !evaluate(guards[0]) : notThere();
  };
  try {
    return evaluate(Object.hasOwn(all, name) ? name : undefined);
  } catch {
    // It looked at what is not there: an event, an effect's answer, or a context that is half made.
    return undefined;
  }
}

function notThere(): never {
  throw new Error('hangs on an event');
}
