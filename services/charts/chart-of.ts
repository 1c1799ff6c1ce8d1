import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import type { ChartWords, StateWords } from '../../machines/chart-words.types.ts';
import { isWatch } from '../../machines/slot.types.ts';
import type { Chart, Edge, State } from './chart.types.ts';

/** Reads machines' definitions into plain data; a machine of the record is known to the others by its name there. */
export function chartsOf(machines: Record<string, AnyStateMachine>): Record<string, Chart> {
  const names = new Map<unknown, string>(Object.entries(machines).map(([name, machine]) => [machine, name]));
  return Object.fromEntries(Object.entries(machines).map(([name, machine]) => [name, chartOf(name, machine, names)]));
}

function chartOf(name: string, machine: AnyStateMachine, names: ReadonlyMap<unknown, string>): Chart {
  const states: State[] = [];
  const edges: Edge[] = [];
  const visit = (node: AnyStateNode) => {
    states.push(stateOf(node));
    for (const transition of [...node.transitions.values()].flat().concat(node.always ?? []))
      edges.push(...edgesOf(node, transition));
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  const { actors, delays } = machine.implementations;
  const words = machine.root.meta as ChartWords | undefined;
  const slots = Object.entries(actors as Record<string, unknown>);
  const children = slots.flatMap(([, logic]) => names.get(logic) ?? []);
  return {
    name,
    machine: machine.id,
    description: machine.root.description ?? '',
    states,
    edges,
    children: [...new Set(children)],
    watches: slots.flatMap(([slot, logic]) => (isWatch(logic) ? slot : [])),
    delays: Object.fromEntries(
      Object.entries(delays).map(([delay, ms]) => [delay, typeof ms === 'number' ? ms : null]),
    ),
    ...(words && { words }),
  };
}

function stateOf(node: AnyStateNode): State {
  const { type: kind, description = '', tags } = node;
  const { awaits, holdsBack } = (node === node.machine.root ? {} : (node.meta ?? {})) as StateWords;
  const first = kind === 'compound' ? node.initial.target[0] : undefined;
  return {
    path: pathOf(node),
    kind,
    initial: first && pathOf(first),
    description,
    tags,
    invokes: node.invoke.map((invoke) => String(invoke.src)),
    entry: actionsOf(node.entry),
    exit: actionsOf(node.exit),
    ...(awaits && { awaits }),
    ...(holdsBack && { holdsBack }),
  };
}

const pathOf = (node: AnyStateNode) => node.path.join('.');

function edgesOf(node: AnyStateNode, transition: AnyTransitionDefinition): Edge[] {
  const from = pathOf(node);
  const edge = {
    from,
    ...whenOf(node, transition.eventType),
    event: transition.eventType,
    guard: guardOf(transition.guard),
    actions: actionsOf(transition.actions),
    description: transition.description,
    reenters: transition.reenter,
  };
  const targets = transition.target ?? [];
  if (!targets.length) return [{ ...edge, to: undefined, internal: true }];
  return targets.map((target) => {
    const to = pathOf(target);
    return { ...edge, to, internal: !transition.reenter && (!from || to.startsWith(`${from}.`)) };
  });
}

/** XState's event names in plain words: `xstate.done.actor.0.pod.opening` is that its effect is done. */
function whenOf(node: AnyStateNode, eventType: string): Pick<Edge, 'kind' | 'what'> {
  if (eventType === '') return { kind: 'always', what: '' };
  const [, delay] = /^xstate\.after\.(.*?)\.[^.]*(?:\..*)?$/.exec(eventType) ?? [];
  if (delay !== undefined) return { kind: 'after', what: delay };
  if (eventType.startsWith('xstate.done.state.')) return { kind: 'done', what: node.key };
  const [, kind, id = ''] = /^xstate\.(done|error)\.actor\.(.*)$/.exec(eventType) ?? [];
  if (kind === undefined) return { kind: 'on', what: eventType };
  const effect = node.invoke.find((invoke) => invoke.id === id);
  return { kind: kind as 'done' | 'error', what: effect ? String(effect.src) : id };
}

function guardOf(guard: unknown): string | undefined {
  if (guard === undefined) return undefined;
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'object' && guard !== null && 'type' in guard) return withParams(guard as Named);
  // and(), or(), not() keep what they combine; an inline function has only its name.
  if (typeof guard === 'function') {
    const { check, guards } = guard as { check?: { name: string }; guards?: unknown[] };
    if (guards) return `${check?.name.replace('check', '').toLowerCase() ?? ''}(${guards.map(guardOf).join(', ')})`;
    return guard.name || 'inline';
  }
  return undefined;
}

/**
 * The named actions, with what they are told where that is fixed: `record(Created)`. An unnamed one keeps an effect's
 * answer in the context; it says nothing to a reader and is left out.
 */
function actionsOf(actions: readonly unknown[]): string[] {
  return actions.flatMap((action) => {
    if (typeof action === 'string') return action;
    if (typeof action !== 'object' || action === null || !('type' in action)) return [];
    return withParams(action as Named);
  });
}

interface Named {
  type: string;
  params?: unknown;
}

function withParams({ type, params }: Named): string {
  const told = typeof params === 'object' ? (params as { reason?: unknown } | null)?.reason : params;
  return typeof told === 'string' ? `${type}(${told})` : type;
}
