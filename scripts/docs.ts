import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import elkjs from 'elkjs/lib/elk.bundled.js';
import { machines } from '../bin/charts.ts';
import type { Chart, Edge } from '../services/charts/chart.types.ts';
import { layoutChart } from '../services/charts/layout.ts';
import { chartSvg } from '../services/charts/svg.ts';
import { delay, diagram } from './mermaid.ts';
import { familyOf, folderOf } from './spawns.ts';
import { chartsOf } from '../services/charts/chart-of.ts';

/** Writes docs/statecharts/: a page and a picture for each machine, and an index. `pages()` gives them without writing, for the test. */
export async function pages(): Promise<Map<string, string>> {
  const charts = Object.values(chartsOf(machines));
  const result = new Map<string, string>([
    ['README.md', index(charts)],
    ['coverage.md', coverage(charts)],
    ['spawns.svg', await picture(familyOf(charts))],
  ]);
  for (const chart of charts) {
    result.set(`${chart.name}.md`, page(chart));
    result.set(`${chart.name}.svg`, await picture(chart));
  }
  return result;
}

const engine = new elkjs.default();
const picture = async (chart: Chart) => chartSvg(await layoutChart(chart, engine), { standalone: true });

const generated = '<!-- Written by `npm run docs` from the machines themselves; a test checks that it is fresh. -->';
const root = new URL('../', import.meta.url);

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

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
const list = (names: readonly string[]) => names.map(code).join(', ');
const table = (head: string[], rows: string[][]) => [
  `| ${head.join(' | ')} |`,
  `|${head.map(() => '---|').join('')}`,
  ...rows.map((row) => `| ${row.join(' | ')} |`),
];
function index(charts: Chart[]): string {
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
    '![Who spawns whom](spawns.svg)',
    '',
    ...table(['machine', 'what it is', 'states', 'transitions', 'spawns'], rows),
    '',
    '## How to read a page',
    '',
    'The picture shows every edge that leads from a state to another; boxes in a box are states within a state, and a dot',
    'leads into the first of them. A word in brackets is a guard: the edge is taken only where it holds. An edge with only a',
    "guard is taken at once when that holds; of several, the first in the table's order. `done` and `error` are the two ways",
    'in which the effect of a state ends. In a box, `▸` names the effect, `↓` what is done on entry and `↑` on exit. Blue',
    'states run an effect, yellow ones wait for a timer or an event, grey ones are final; the others go on as soon as one of',
    'their guards holds. `any` stands for whichever of the states around it. The same pictures are lit, live, in the inspector.',
    '',
    'The tables have everything: also what a state does without leaving it, entry actions, and events that are taken in',
    'any state. `after` names a delay that is computed when the state is entered, or says how long it is.',
    '',
    'Every state and transition is walked by tests: [coverage](coverage.md).',
    '',
  ].join('\n');
}

/** What the paths tests walk. That they walk all of it is what they test; that each has one, test/structure.test.ts. */
function coverage(charts: Chart[]): string {
  const sum = (numbers: number[]) => String(numbers.reduce((a, b) => a + b, 0));
  const states = charts.map((c) => c.states.length - 1);
  const transitions = charts.map((c) => c.edges.length);
  const rows = charts.map((c, i) => {
    const file = `test/machines/${c.name}.paths.test.ts`;
    const all = [states[i], transitions[i]].map((n) => `${n} of ${n}`);
    return [`[${c.name}](${c.name}.md)`, ...all, `[${c.name}.paths.test.ts](../../${file})`];
  });
  return [
    '# Coverage of the statecharts',
    '',
    generated,
    '',
    'Each machine has a test that walks its chart along generated paths: every event at every moment, every way in which',
    'an effect can end, every timer. After each step the invariants of the machine are asked. The test fails where a state is',
    'not entered or a transition not taken, so that the numbers below are always all there is. `npm test -- test/machines`',
    'prints them as they were walked, with the number of paths.',
    '',
    ...table(['machine', 'states entered', 'transitions taken', 'by'], rows),
    '',
    `Together ${sum(states)} states and ${sum(transitions)} transitions.`,
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
    `[![The ${chart.name} chart](${chart.name}.svg)](${chart.name}.svg)`,
    '',
    '<details><summary>The same as Mermaid</summary>',
    '',
    '```mermaid',
    ...diagram(chart),
    '```',
    '',
    '</details>',
    '',
    ...(machine?.invokes.length ? [`All the time it runs ${list(machine.invokes)}.`, ''] : []),
    ...(machine?.entry.length ? [`At its start: ${list(machine.entry)}.`, ''] : []),
    '## States',
    '',
    ...table(
      ['state', 'what it means', 'effect', 'on entry', 'on exit', 'tags'],
      states.map((s) => [code(s.path), s.description, list(s.invokes), list(s.entry), list(s.exit), list(s.tags)]),
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
    ...namesOf(chart),
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

/** Events, guards, effects and delays by name, what they mean, and the states where they count. */
function namesOf(chart: Chart): string[] {
  const { states, edges, delays, words } = chart;
  const section = (
    title: string,
    head: string,
    names: string[],
    where: (name: string) => string[],
    means?: Readonly<Record<string, string>>,
    more?: string,
  ) =>
    names.length
      ? [
          `## ${title}`,
          '',
          ...table(
            [head, ...(means ? ['in words'] : []), ...(more ? [more] : []), 'in'],
            [...new Set(names)].map((name) => [
              code(name),
              ...(means ? [means[name] ?? ''] : []),
              ...(more ? [lengthOf(delays[name])] : []),
              places(where(name)),
            ]),
          ),
          '',
        ]
      : [];
  const from = (is: (edge: Edge) => boolean) => edges.filter(is).map((e) => e.from);
  return [
    ...section(
      'Events',
      'event',
      edges.filter((e) => e.kind === 'on').map((e) => e.what),
      (name) => from((e) => e.kind === 'on' && e.what === name),
      words?.events,
    ),
    ...section(
      'Guards',
      'guard',
      edges.flatMap((e) => e.guard ?? []),
      (name) => from((e) => e.guard === name),
      words?.guards,
    ),
    ...section(
      'Effects',
      'effect',
      states.flatMap((s) => s.invokes),
      (name) => states.filter((s) => s.invokes.includes(name)).map((s) => s.path),
    ),
    ...section(
      'Delays',
      'delay',
      Object.keys(delays),
      (name) => from((e) => e.kind === 'after' && e.what === name),
      words?.delays,
      'length',
    ),
  ];
}

const lengthOf = (ms: number | null | undefined) => (typeof ms === 'number' ? `${ms / 1000} s` : 'computed on entry');
const places = (paths: string[]) => [...new Set(paths)].map((path) => (path ? code(path) : '(any)')).join(', ');

function whenInTable(chart: Chart, { kind, what }: Edge): string {
  if (kind === 'always') return 'always';
  if (kind === 'after') return `after ${code(delay(chart, what))}`;
  return kind === 'on' ? code(what) : `${kind} ${code(what)}`;
}

if (import.meta.main) {
  const folder = fileURLToPath(new URL('docs/statecharts/', root));
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of await pages()) writeFileSync(folder + name, text);
}
