import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chartOf, machines, type Chart, type State } from './charts.ts';

/** Writes docs/statecharts/: one page a machine and an index. `pages()` gives them without writing, for the test. */
export function pages(): Map<string, string> {
  const charts = Object.entries(machines).map(([name, machine]) => chartOf(name, machine));
  const result = new Map<string, string>([['README.md', index(charts)]]);
  for (const chart of charts) result.set(`${chart.name}.md`, page(chart));
  return result;
}

const generated = '<!-- Written by `npm run docs` from the machines themselves; a test checks that it is fresh. -->';

function index(charts: Chart[]): string {
  const spawned = charts.flatMap((c) => c.children.map((child) => `  ${id(c.name)} --> ${id(child)}`));
  const rows = charts.map(
    (c) =>
      `| [${c.name}](${c.name}.md) | ${c.description} | ${c.states.length} | ${c.edges.length} | ${c.children.join(', ')} |`,
  );
  return [
    '# Statecharts',
    '',
    generated,
    '',
    'Every lifecycle of the agent is one of these charts. An arrow says who spawns whom.',
    '',
    '```mermaid',
    'flowchart LR',
    ...charts.map((c) => `  ${id(c.name)}["${c.name}"]`),
    ...spawned,
    '```',
    '',
    '| machine | what it is | states | transitions | spawns |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function page(chart: Chart): string {
  return [
    `# ${chart.name}`,
    '',
    generated,
    '',
    chart.description,
    '',
    '```mermaid',
    ...diagram(chart),
    '```',
    '',
    '## States',
    '',
    '| state | what it means | effect | tags |',
    '|---|---|---|---|',
    ...chart.states.map(
      (s) =>
        `| \`${s.path}\` | ${s.description} | ${s.invokes.map((i) => `\`${i}\``).join(', ')} | ${s.tags.join(', ')} |`,
    ),
    '',
    '## Transitions',
    '',
    '| from | when | guard | to | actions |',
    '|---|---|---|---|---|',
    ...chart.edges.map(
      (e) =>
        `| ${e.from ? `\`${e.from}\`` : '(any)'} | ${e.when} | ${e.guard ?? ''} | ${e.to ? `\`${e.to}\`` : '(stays)'} | ${e.actions.join(', ')} |`,
    ),
    '',
  ].join('\n');
}

/** Mermaid wants identifiers without dots and dashes. */
const id = (path: string) => path.replaceAll(/[.-]/g, '_') || 'root';

function diagram(chart: Chart): string[] {
  const lines = ['stateDiagram-v2'];
  const childrenOf = (path: string) =>
    chart.states.filter((s) => s.path.startsWith(path ? `${path}.` : '') && s.depth === depthOf(path) + 1);
  const write = (state: State, indent: string) => {
    const children = childrenOf(state.path);
    const label = state.path.split('.').at(-1) ?? '';
    if (!children.length) {
      lines.push(`${indent}state "${label}" as ${id(state.path)}`);
      return;
    }
    lines.push(`${indent}state "${label}" as ${id(state.path)} {`);
    for (const [i, child] of children.entries()) {
      write(child, `${indent}  `);
      if (state.kind === 'parallel' && i < children.length - 1) lines.push(`${indent}  --`);
    }
    lines.push(`${indent}}`);
  };
  const top = childrenOf('');
  for (const state of top) write(state, '  ');
  if (top[0]) lines.push(`  [*] --> ${id(top[0].path)}`);
  const seen = new Set<string>();
  for (const { from, to, when, guard } of chart.edges) {
    if (!to || !from) continue;
    const line = `  ${id(from)} --> ${id(to)}: ${when === 'always' ? '' : when}${guard ? ` [${guard}]` : ''}`.replace(
      /: $/,
      '',
    );
    if (!seen.has(line)) lines.push(line);
    seen.add(line);
  }
  for (const s of chart.states) if (s.kind === 'final') lines.push(`  ${id(s.path)} --> [*]`);
  return lines;
}

const depthOf = (path: string) => (path ? path.split('.').length : 0);

if (import.meta.main) {
  const folder = fileURLToPath(new URL('../docs/statecharts/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of pages()) writeFileSync(folder + name, text);
}
