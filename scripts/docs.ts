import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { machines } from '../bin/charts.ts';
import type { Chart, Edge, State } from '../services/charts/chart.types.ts';
import { chartsOf } from '../services/charts/chart-of.ts';

/** Writes docs/statecharts/: one page a machine and an index. `pages()` gives them without writing, for the test. */
export function pages(): Map<string, string> {
  const charts = Object.values(chartsOf(machines));
  const result = new Map<string, string>([['README.md', index(charts)]]);
  for (const chart of charts) result.set(`${chart.name}.md`, page(chart));
  return result;
}

const generated = '<!-- Written by `npm run docs` from the machines themselves; a test checks that it is fresh. -->';
const root = new URL('../', import.meta.url);
const FOLDERS = ['syncloop', 'pod', 'node'];

/** What tags answer, for those who may not look at state names. */
const TAGS: Record<string, string> = {
  mayRunContainers: 'Containers of the pod may run or be started.',
  containersStopped: 'It was seen that none of its containers runs.',
  released: 'Its resources are given back: another pod may take its name.',
  mayRun: 'An instance runs, or may run for all that is known.',
  stopped: 'No instance runs and no call is in flight.',
  ready: 'An instance runs and counts as ready.',
  busy: 'A call that changes or looks at the runtime is in flight or has to be repeated.',
};

const folderOf = (name: string) =>
  FOLDERS.find((folder) => existsSync(new URL(`machines/${folder}/${name}.machine.ts`, root))) ?? '';
const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
const list = (names: readonly string[]) => names.map(code).join(', ');
const table = (head: string[], rows: string[][]) => [
  `| ${head.join(' | ')} |`,
  `|${head.map(() => '---|').join('')}`,
  ...rows.map((row) => `| ${row.join(' | ')} |`),
];
/** Mermaid wants identifiers without dots and dashes. */
const id = (path: string) => path.replaceAll(/[.-]/g, '_');
const parentOf = (path: string) => path.split('.').slice(0, -1).join('.');
const keyOf = (path: string) => path.split('.').at(-1) ?? '';

function index(charts: Chart[]): string {
  const places = FOLDERS.flatMap((folder) => [
    `  subgraph ${folder}_folder["machines/${folder}/"]`,
    ...charts.filter((c) => folderOf(c.name) === folder).map((c) => `    ${id(c.name)}["${c.name}"]`),
    '  end',
  ]);
  const spawned = charts.flatMap((c) => c.children.map((child) => `  ${id(c.name)} --> ${id(child)}`));
  const rows = charts.map((c) => [
    `[${c.name}](${c.name}.md)`,
    c.description,
    String(c.states.length - 1),
    String(c.edges.length),
    c.children.map((child) => `[${child}](${child}.md)`).join(', '),
  ]);
  return [
    '# Statecharts',
    '',
    generated,
    '',
    'Every lifecycle of the agent is one of these charts. An arrow says who spawns whom.',
    '',
    '```mermaid',
    'flowchart LR',
    ...places,
    ...spawned,
    '```',
    '',
    ...table(['machine', 'what it is', 'states', 'transitions', 'spawns'], rows),
    '',
    '## How to read a page',
    '',
    'The picture shows every edge that leads from a state to another. A word in brackets is a guard: the edge is taken',
    'only where it holds. An edge without anything else is taken at once when its guard holds; of several, the first in the',
    "table's order. `done` and `error` are the two ways in which the effect of a state ends. Blue states run an effect,",
    'yellow ones wait for a timer or an event, grey ones are final; the others go on as soon as one of their guards holds.',
    '',
    'The tables have everything: also what a state does without leaving it, entry actions, and events that are taken in',
    'any state. `after` names a delay that is computed when the state is entered, or says how long it is.',
    '',
  ].join('\n');
}

function page(chart: Chart): string {
  const [machine, ...states] = chart.states;
  const tags = Object.keys(TAGS).filter((tag) => states.some((s) => s.tags.includes(tag)));
  const file = `machines/${folderOf(chart.name)}/${chart.name}.machine.ts`;
  return [
    `# ${chart.name}`,
    '',
    generated,
    '',
    chart.description,
    '',
    `Source: [${file}](../../${file}).${chart.children.length ? ` Spawns: ${chart.children.map((c) => `[${c}](${c}.md)`).join(', ')}.` : ''}`,
    '',
    '```mermaid',
    ...diagram(chart),
    '```',
    '',
    ...(machine?.invokes.length ? [`All the time it runs ${list(machine.invokes)}.`, ''] : []),
    ...(machine?.entry.length ? [`At its start: ${list(machine.entry)}.`, ''] : []),
    '## States',
    '',
    ...table(
      ['state', 'what it means', 'effect', 'on entry', 'tags'],
      states.map((s) => [code(s.path), s.description, list(s.invokes), list(s.entry), list(s.tags)]),
    ),
    '',
    ...(tags.length
      ? [
          '## Tags',
          '',
          ...table(
            ['tag', 'what it says'],
            tags.map((tag) => [code(tag), TAGS[tag] ?? '']),
          ),
          '',
        ]
      : []),
    '## Transitions',
    '',
    ...table(
      ['from', 'when', 'guard', 'to', 'actions'],
      chart.edges.map((e) => [
        e.from ? code(e.from) : '(any)',
        whenInTable(chart, e),
        e.guard ? code(e.guard) : '',
        e.to === undefined ? '(stays)' : `${code(e.to)}${e.to === e.from ? ' (again)' : ''}`,
        list(e.actions),
      ]),
    ),
    '',
  ].join('\n');
}

function whenInTable(chart: Chart, { kind, what }: Edge): string {
  if (kind === 'always') return 'always';
  if (kind === 'after') return `after ${code(delay(chart, what))}`;
  return kind === 'on' ? code(what) : `${kind} ${code(what)}`;
}

/** A delay that is a plain number says how long it is; the others are computed when they begin. */
function delay({ delays }: Chart, name: string): string {
  const ms = delays[name];
  return typeof ms === 'number' ? `${name} (${ms / 1000} s)` : name;
}

/** In the picture an effect's end needs no name: its state runs only that one. */
function label(chart: Chart, { kind, what, guard }: Edge): string {
  const when = { always: '', on: what, after: `after ${delay(chart, what)}`, done: 'done', error: 'error' }[kind];
  return [when, guard && `[${guard}]`].filter(Boolean).join(' ');
}

function diagram(chart: Chart): string[] {
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

if (import.meta.main) {
  const folder = fileURLToPath(new URL('docs/statecharts/', root));
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of pages()) writeFileSync(folder + name, text);
}
