import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { runtimeHealthMachine } from '../machines/node/runtime-health.machine.ts';
import { containerMachine } from '../machines/pod/container.machine.ts';
import { imagePullMachine } from '../machines/pod/image-pull.machine.ts';
import { podMachine } from '../machines/pod/pod.machine.ts';
import { housekeepingMachine } from '../machines/syncloop/housekeeping.machine.ts';
import { inspectionMachine } from '../machines/syncloop/inspection.machine.ts';
import { plegMachine } from '../machines/syncloop/pleg.machine.ts';
import { podSourceMachine } from '../machines/syncloop/pod-source.machine.ts';
import { syncloopMachine } from '../machines/syncloop/syncloop.machine.ts';

/** Every machine of the agent, by the name of its page. */
export const machines: Record<string, AnyStateMachine> = {
  syncloop: syncloopMachine,
  pleg: plegMachine,
  inspection: inspectionMachine,
  'pod-source': podSourceMachine,
  housekeeping: housekeepingMachine,
  'runtime-health': runtimeHealthMachine,
  pod: podMachine,
  container: containerMachine,
  'image-pull': imagePullMachine,
};

/** One edge of a chart, in words that a table and a picture share. */
export interface Edge {
  from: string;
  to: string | undefined;
  /** `on`, `after`, `always`, `done` or `error`, with the event, delay or effect. */
  when: string;
  guard: string | undefined;
  actions: string[];
}

/** One state of a chart. */
export interface State {
  path: string;
  depth: number;
  kind: AnyStateNode['type'];
  description: string;
  tags: string[];
  invokes: string[];
}

export interface Chart {
  name: string;
  description: string;
  states: State[];
  edges: Edge[];
  /** Machines that it spawns or invokes. */
  children: string[];
}

/** Reads a machine's definition into what pages show. */
export function chartOf(name: string, machine: AnyStateMachine): Chart {
  const states: State[] = [];
  const edges: Edge[] = [];
  const visit = (node: AnyStateNode) => {
    const path = node.path.join('.');
    if (node !== machine.root) {
      const { type, description = '', tags } = node;
      const invokes = node.invoke.map((i) => String(i.src));
      states.push({ path, depth: node.path.length, kind: type, description, tags, invokes });
    }
    for (const transition of transitionsOf(node)) edges.push(...edgesOf(node, transition));
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  const actors = machine.implementations.actors as Record<string, unknown>;
  const byMachine = new Map(Object.entries(machines).map(([page, m]) => [m, page]));
  const children = Object.values(actors).flatMap((logic) => byMachine.get(logic as AnyStateMachine) ?? []);
  return { name, description: machine.root.description ?? '', states, edges, children: [...new Set(children)] };
}

function transitionsOf(node: AnyStateNode): AnyTransitionDefinition[] {
  return [...node.transitions.values()].flat().concat(node.always ?? []);
}

function edgesOf(node: AnyStateNode, transition: AnyTransitionDefinition): Edge[] {
  const from = node.path.join('.');
  const edge = {
    from,
    when: whenOf(transition.eventType),
    guard: guardOf(transition.guard),
    actions: actionsOf(transition.actions),
  };
  const targets = transition.target ?? [];
  return targets.length ? targets.map((t) => ({ ...edge, to: t.path.join('.') })) : [{ ...edge, to: undefined }];
}

function whenOf(eventType: string): string {
  if (eventType === '') return 'always';
  const after = /^xstate\.after\.(.*?)\.[^.]*(\..*)?$/.exec(eventType);
  if (after) return `after ${after[1]}`;
  if (/^xstate\.done\.(actor\.\d+|state)\./.test(eventType)) return 'done';
  if (/^xstate\.error\.actor\.\d+\./.test(eventType)) return 'error';
  return eventType.replace(/^xstate\.(done|error)\.actor\./, (_all, what: string) => `${what} of `);
}

function guardOf(guard: unknown): string | undefined {
  if (guard === undefined) return undefined;
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'object' && guard !== null && 'type' in guard) return String(guard.type);
  // and(), or(), not() keep what they combine; an inline function has only its name.
  if (typeof guard === 'function') {
    const { check, guards } = guard as { check?: { name: string }; guards?: unknown[] };
    if (guards) return `${check?.name.replace('check', '').toLowerCase() ?? ''}(${guards.map(guardOf).join(', ')})`;
    return guard.name || 'inline';
  }
  return undefined;
}

function actionsOf(actions: readonly unknown[]): string[] {
  return actions.map((action) => {
    if (typeof action === 'string') return action;
    if (typeof action === 'object' && action !== null && 'type' in action) return String(action.type);
    return (action as { type?: string }).type?.replace('xstate.', '') ?? 'inline';
  });
}
