import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { leaseMachine } from '../machines/node/lease.machine.ts';
import { logRotationMachine } from '../machines/node/log-rotation.machine.ts';
import { nodeStatusMachine } from '../machines/node/node-status.machine.ts';
import { nodeMachine } from '../machines/node/node.machine.ts';
import { runtimeHealthMachine } from '../machines/node/runtime-health.machine.ts';
import { containerMachine } from '../machines/pod/container.machine.ts';
import { imagePullMachine } from '../machines/pod/image-pull.machine.ts';
import { podMachine } from '../machines/pod/pod.machine.ts';
import { volumeMachine } from '../machines/pod/volume.machine.ts';
import { apiSourceMachine } from '../machines/syncloop/api-source.machine.ts';
import { clusterMachine } from '../machines/syncloop/cluster.machine.ts';
import { eventRecorderMachine } from '../machines/syncloop/event-recorder.machine.ts';
import { housekeepingMachine } from '../machines/syncloop/housekeeping.machine.ts';
import { inspectionMachine } from '../machines/syncloop/inspection.machine.ts';
import { plegMachine } from '../machines/syncloop/pleg.machine.ts';
import { podSourceMachine } from '../machines/syncloop/pod-source.machine.ts';
import { podWriterMachine } from '../machines/syncloop/pod-writer.machine.ts';
import { statusWriterMachine } from '../machines/syncloop/status-writer.machine.ts';
import { syncloopMachine } from '../machines/syncloop/syncloop.machine.ts';

/** Every machine of the agent, by the name of its page. */
export const machines: Record<string, AnyStateMachine> = {
  syncloop: syncloopMachine,
  pleg: plegMachine,
  inspection: inspectionMachine,
  'pod-source': podSourceMachine,
  housekeeping: housekeepingMachine,
  'runtime-health': runtimeHealthMachine,
  'log-rotation': logRotationMachine,
  pod: podMachine,
  container: containerMachine,
  'image-pull': imagePullMachine,
  volume: volumeMachine,
  cluster: clusterMachine,
  'api-source': apiSourceMachine,
  'status-writer': statusWriterMachine,
  'pod-writer': podWriterMachine,
  node: nodeMachine,
  'node-status': nodeStatusMachine,
  lease: leaseMachine,
  'event-recorder': eventRecorderMachine,
};

/** One edge of a chart, in words that a table and a picture share. */
export interface Edge {
  /** Path of the state it leaves; empty for the machine itself, whatever its state. */
  from: string;
  /** Path of the state it enters; undefined where it stays. */
  to: string | undefined;
  kind: 'on' | 'after' | 'always' | 'done' | 'error';
  /** The event, the delay, or what ended: an effect, a child, a compound state. */
  what: string;
  guard: string | undefined;
  actions: string[];
  /** Leaves its state and enters it again, so that entry actions, effect and timers start anew. */
  reenters: boolean;
}

/** One state of a chart. */
export interface State {
  path: string;
  kind: AnyStateNode['type'];
  /** Path of the child that is entered first; undefined for a state without one. */
  initial: string | undefined;
  description: string;
  tags: string[];
  invokes: string[];
  entry: string[];
}

export interface Chart {
  name: string;
  description: string;
  /** The machine itself comes first, with an empty path. */
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
    states.push(stateOf(node));
    for (const transition of [...node.transitions.values()].flat().concat(node.always ?? []))
      edges.push(...edgesOf(node, transition, machine));
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  const byMachine = new Map(Object.entries(machines).map(([page, m]) => [m, page]));
  const logics = Object.values(machine.implementations.actors as Record<string, unknown>);
  const children = logics.flatMap((logic) => byMachine.get(logic as AnyStateMachine) ?? []);
  return { name, description: machine.root.description ?? '', states, edges, children: [...new Set(children)] };
}

function stateOf(node: AnyStateNode): State {
  const { type: kind, description = '', tags } = node;
  const first = kind === 'compound' ? node.initial.target[0] : undefined;
  return {
    path: pathOf(node),
    kind,
    initial: first && pathOf(first),
    description,
    tags,
    invokes: node.invoke.map((invoke) => String(invoke.src)),
    entry: actionsOf(node.entry),
  };
}

const pathOf = (node: AnyStateNode) => node.path.join('.');

function edgesOf(node: AnyStateNode, transition: AnyTransitionDefinition, machine: AnyStateMachine): Edge[] {
  const edge = {
    from: pathOf(node),
    ...whenOf(node, transition.eventType, machine),
    guard: guardOf(transition.guard),
    actions: actionsOf(transition.actions),
    reenters: transition.reenter,
  };
  const targets = transition.target ?? [];
  return targets.length ? targets.map((t) => ({ ...edge, to: pathOf(t) })) : [{ ...edge, to: undefined }];
}

/** XState's event names in plain words: `xstate.done.actor.0.pod.opening` is that its effect is done. */
function whenOf(node: AnyStateNode, eventType: string, machine: AnyStateMachine): Pick<Edge, 'kind' | 'what'> {
  if (eventType === '') return { kind: 'always', what: '' };
  const [, delay] = /^xstate\.after\.(.*?)\.[^.]*(?:\..*)?$/.exec(eventType) ?? [];
  if (delay !== undefined) return { kind: 'after', what: delay + fixedDelay(machine.implementations.delays[delay]) };
  if (eventType.startsWith('xstate.done.state.')) return { kind: 'done', what: node.key };
  const [, kind, id = ''] = /^xstate\.(done|error)\.actor\.(.*)$/.exec(eventType) ?? [];
  if (kind === undefined) return { kind: 'on', what: eventType };
  const effect = node.invoke.find((invoke) => invoke.id === id);
  return { kind: kind as 'done' | 'error', what: effect ? String(effect.src) : id };
}

/** A delay that is a plain number; the others are computed when they begin. */
const fixedDelay = (delay: unknown) => (typeof delay === 'number' ? ` (${delay / 1000} s)` : '');

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

/**
 * The named actions, with what they are told where that is fixed: `record(Created)`. An unnamed one keeps an effect's
 * answer in the context; it says nothing to a reader and is left out.
 */
function actionsOf(actions: readonly unknown[]): string[] {
  return actions.flatMap((action) => {
    if (typeof action === 'string') return action;
    if (typeof action !== 'object' || action === null || !('type' in action)) return [];
    const { type, params } = action as { type: string; params?: unknown };
    const told = typeof params === 'object' ? (params as { reason?: unknown } | null)?.reason : params;
    return typeof told === 'string' ? `${type}(${told})` : type;
  });
}
