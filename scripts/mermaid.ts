import type { Chart, Edge, State } from '../services/charts/chart.types.ts';

/** Mermaid wants identifiers without dots and dashes. */
const id = (path: string) => path.replaceAll(/[.-]/g, '_');
const parentOf = (path: string) => path.split('.').slice(0, -1).join('.');
const keyOf = (path: string) => path.split('.').at(-1) ?? '';

/** A delay that is a plain number says how long it is; the others are computed when they begin. */
export function delay({ delays }: Chart, name: string): string {
  const ms = delays[name];
  return typeof ms === 'number' ? `${name} (${ms / 1000} s)` : name;
}

/** In the picture an effect's end needs no name: its state runs only that one. */
function label(chart: Chart, { kind, what, guard }: Edge): string {
  const when = { always: '', on: what, after: `after ${delay(chart, what)}`, done: 'done', error: 'error' }[kind];
  return [when, guard && `[${guard}]`].filter(Boolean).join(' ');
}

/** The chart as Mermaid source, a line each. */
export function diagram(chart: Chart): string[] {
  // Flat charts are stars around a state that decides: labels have room where edges run from left to right.
  const isFlat = !chart.states.some((s) => s.path.includes('.'));
  const lines = ['stateDiagram-v2', ...(isFlat ? ['  direction LR'] : [])];
  const childrenOf = (path: string) => chart.states.filter((s) => s.path && parentOf(s.path) === path);
  const write = (state: State, indent: string) => {
    const children = childrenOf(state.path);
    lines.push(`${indent}state "${keyOf(state.path)}" as ${id(state.path)}${children.length ? ' {' : ''}`);
    if (!children.length) return;
    if (state.initial) lines.push(`${indent}  [*] --> ${id(state.initial)}`);
    for (const child of children) write(child, `${indent}  `);
    lines.push(`${indent}}`);
  };
  const top = chart.states[0];
  for (const state of childrenOf('')) write(state, '  ');
  if (top?.initial) lines.push(`  [*] --> ${id(top.initial)}`);
  const drawn = new Map<string, string[]>();
  for (const edge of chart.edges) {
    if (edge.to === undefined) continue;
    const arrow = `${edge.from ? id(edge.from) : 'any_state'} --> ${id(edge.to)}`;
    const labels = drawn.get(arrow) ?? [];
    if (!labels.includes(label(chart, edge))) labels.push(label(chart, edge));
    drawn.set(arrow, labels);
  }
  if (chart.edges.some((e) => !e.from && e.to !== undefined)) lines.push('  state "(any)" as any_state');
  for (const [arrow, labels] of drawn) {
    const text = labels.filter(Boolean).join('<br/>');
    lines.push(`  ${arrow}${text ? `: ${text}` : ''}`);
  }
  for (const s of chart.states) if (s.kind === 'final') lines.push(`  ${id(s.path)} --> [*]`);
  return [...lines, ...colours(chart)];
}

function colours(chart: Chart): string[] {
  const atoms = chart.states.filter((s) => s.path && (s.kind === 'atomic' || s.kind === 'final'));
  const kinds = {
    effect: ['fill:#dbeafe,stroke:#2563eb,color:#111', (s: State) => s.invokes.length > 0],
    wait: ['fill:#fef9c3,stroke:#ca8a04,color:#111', (s: State) => waits(chart, s)],
    over: ['fill:#e5e7eb,stroke:#6b7280,color:#111', (s: State) => s.kind === 'final'],
  } as const;
  return Object.entries(kinds).flatMap(([name, [style, has]]) => {
    const of = atoms.filter(has).map((s) => id(s.path));
    return of.length ? [`  classDef ${name} ${style}`, `  class ${of.join(',')} ${name}`] : [];
  });
}

const waits = ({ edges }: Chart, { path, invokes, kind }: State) =>
  !invokes.length &&
  kind !== 'final' &&
  edges.some((e) => e.from === path && e.to !== undefined && (e.kind === 'after' || e.kind === 'on'));
