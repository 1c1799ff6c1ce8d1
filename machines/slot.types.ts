import { fromCallback, fromPromise, type CallbackActorLogic, type EventObject, type PromiseActorLogic } from 'xstate';
import { AgentError } from './agent-error.types.ts';

/**
 * A named place for an effect in a chart. The chart declares its input and output; a service fills it
 * (`machine.provide({ actors })`) with `fromPromise(({ input, signal }) => …)`. Rejects with AgentError only.
 */
export type Slot<Input, Output> = PromiseActorLogic<Output, Input>;

/** An unfilled slot: drawing and walking a chart need no service; running it unfilled rejects with `UnfilledSlot`. */
export function slot<Input, Output>(name: string): Slot<Input, Output> {
  return fromPromise<Output, Input>(() => Promise.reject(unfilled(name)));
}

/**
 * A named place for a watch: a callback actor that sends its machine what happens outside, until it is stopped. It
 * reconnects by itself; one that throws is over.
 */
export type WatchSlot<Input> = CallbackActorLogic<EventObject, Input>;

/** Marks what `watchSlot` made: a chart names its watches, as they are not waited for. */
const watches = new WeakSet<object>();

/** An unfilled watch; running it fails with `UnfilledSlot`. */
export function watchSlot<Input>(name: string): WatchSlot<Input> {
  const logic = fromCallback<EventObject, Input>(() => {
    throw unfilled(name);
  });
  watches.add(logic);
  return logic;
}

/** Whether this is the logic of an unfilled watch. */
export const isWatch = (logic: unknown) => typeof logic === 'object' && logic !== null && watches.has(logic);

const unfilled = (name: string) =>
  new AgentError({ op: name, reason: 'UnfilledSlot', message: `slot ${name} is not filled`, transient: false });
