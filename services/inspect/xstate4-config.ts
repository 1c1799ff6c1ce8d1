import type { Chart, Edge } from '../charts/chart.types.ts';

/** A state of a machine as XState 4's createMachine takes it, JSON through and through. */
export interface XState4Config {
  id?: string;
  key?: string;
  initial?: string;
  type?: 'parallel' | 'final' | 'history';
  description?: string;
  tags?: readonly string[];
  predictableActionArguments?: true;
  entry?: readonly string[];
  exit?: readonly string[];
  invoke?: { id: string; src: string }[];
  on?: Record<string, XState4Transition[]>;
  after?: Record<string, XState4Transition[]>;
  always?: XState4Transition[];
  states?: Record<string, XState4Config>;
}

interface XState4Transition {
  target?: string;
  cond?: { type: string };
  actions?: readonly string[];
  internal: boolean;
  description?: string;
}

/** A chart as the machine that XState 4's tools draw. Events keep XState 5's names, which are the ones that happen. */
export function xstate4Config(chart: Chart): XState4Config {
  const nodes = new Map<string, XState4Config>();
  for (const state of chart.states) {
    const node: XState4Config = {
      ...(state.initial === undefined ? {} : { initial: state.initial }),
      ...(state.kind === 'atomic' || state.kind === 'compound' ? {} : { type: state.kind }),
      description: state.description,
      tags: state.tags,
      entry: state.entry,
      exit: state.exit,
      invoke: state.invokes.map((src, i) => ({ id: `${state.path}:${i}`, src })),
    };
    nodes.set(state.path, node);
    if (state.path === '') Object.assign(node, { id: chart.machine, predictableActionArguments: true });
    else {
      const at = state.path.lastIndexOf('.');
      const parent = nodes.get(at < 0 ? '' : state.path.slice(0, at));
      if (parent) (parent.states ??= {})[state.path.slice(at + 1)] = node;
    }
  }
  for (const edge of chart.edges) {
    const node = nodes.get(edge.from);
    if (node) addEdge(node, edge, chart.machine);
  }
  return nodes.get('') ?? { id: chart.machine };
}

function addEdge(node: XState4Config, edge: Edge, machine: string): void {
  const transition: XState4Transition = {
    ...(edge.to === undefined ? {} : { target: edge.to ? `#${machine}.${edge.to}` : `#${machine}` }),
    ...(edge.guard === undefined ? {} : { cond: { type: edge.guard } }),
    ...(edge.description === undefined ? {} : { description: edge.description }),
    actions: edge.actions,
    internal: edge.internal,
  };
  if (edge.kind === 'always') (node.always ??= []).push(transition);
  else if (edge.kind === 'after') ((node.after ??= {})[edge.what] ??= []).push(transition);
  else ((node.on ??= {})[edge.event] ??= []).push(transition);
}
