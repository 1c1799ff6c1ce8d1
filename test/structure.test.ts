import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { AnyStateNode } from 'xstate';
import { machines } from '../bin/charts.ts';
import { pages } from '../scripts/docs.ts';
import { chartsOf } from '../services/charts/chart-of.ts';
import { cycles, readSources, ROOT } from './support/import-graph.ts';
import { sizeOf } from './support/paths.ts';

const own = readSources(['bin', 'machines', 'services']);
const all = readSources(['bin', 'machines', 'services', 'scripts', 'bench', 'test']);
const files = [...own.values()];
const layer = (path: string) => path.split('/')[0] ?? '';
const isTypes = (path: string) => path.endsWith('.types.ts');
const isPolicy = (path: string) => path.includes('/policy/');

describe('dependencies point one way', () => {
  test('machines import machines only', () => {
    const wrong = files
      .filter((f) => layer(f.path) === 'machines')
      .flatMap((f) => f.imports.filter((i) => layer(i.path) !== 'machines').map((i) => `${f.path} → ${i.path}`));
    expect(wrong).toEqual([]);
  });

  test('machines touch no I/O: of packages only xstate, yaml for manifests, and API types', () => {
    const allowed = ['xstate', 'yaml', '@kubernetes/client-node'];
    const wrong = files
      .filter((f) => layer(f.path) === 'machines')
      .flatMap((f) => f.packages.filter((p) => !allowed.includes(p)).map((p) => `${f.path} → ${p}`));
    expect(wrong).toEqual([]);
  });

  test('machines touch no clock and no randomness of their own', () => {
    const wrong = files.filter(
      (f) =>
        layer(f.path) === 'machines' &&
        /\b(Date\.now\(|new Date\(\)|Math\.random\(|setTimeout\(|performance\.)/.test(f.text),
    );
    expect(wrong.map((f) => f.path)).toEqual([]);
  });

  test('policies know no statechart: they import policies and types', () => {
    const wrong = files
      .filter((f) => isPolicy(f.path))
      .flatMap((f) => [
        ...f.packages.filter((p) => p === 'xstate').map(() => `${f.path} → xstate`),
        ...f.imports.filter((i) => !isPolicy(i.path) && !isTypes(i.path)).map((i) => `${f.path} → ${i.path}`),
      ]);
    expect(wrong).toEqual([]);
  });

  test('services import types and policies of machines, never a chart, and nothing of bin', () => {
    const wrong = files
      .filter((f) => layer(f.path) === 'services')
      .flatMap((f) =>
        f.imports
          .filter(
            (i) => layer(i.path) === 'bin' || (layer(i.path) === 'machines' && !isTypes(i.path) && !isPolicy(i.path)),
          )
          .map((i) => `${f.path} → ${i.path}`),
      );
    expect(wrong).toEqual([]);
  });

  test('nothing reads a folder beside the checkout', () => {
    const wrong = [...all.values()].filter((f) => /\.\.\/shared\//.test(f.text) && f.path !== 'test/structure.test.ts');
    expect(wrong.map((f) => f.path)).toEqual([]);
  });

  test('no import cycles', () => {
    expect(cycles(own)).toEqual([]);
  });

  test('no unused exports', () => {
    const used = new Set<string>();
    for (const f of all.values()) for (const i of f.imports) for (const n of i.names) used.add(`${i.path}#${n}`);
    const unused = files
      .filter((f) => !f.path.startsWith('bin/commands/'))
      .flatMap((f) =>
        f.exports.filter((e) => !used.has(`${f.path}#${e}`) && !used.has(`${f.path}#*`)).map((e) => `${f.path}#${e}`),
      );
    // An interface that only its own file names is still part of what the file says.
    const values = unused.filter((u) => {
      const [path = '', name = ''] = u.split('#');
      return !new RegExp(`export (interface|type) ${name}\\b`).test(own.get(path)?.text ?? '');
    });
    expect(values).toEqual([]);
  });

  test('the composition root stays readable: at most 150 lines', () => {
    expect(own.get('bin/compose.ts')?.text.split('\n').length).toBeLessThanOrEqual(151);
  });
});

/** Words of the field that end in -ing and yet name a wait or a decision, not an effect. */
const NO_EFFECT =
  /^(deciding|waiting\w*|running|pending|syncing|terminating|preparing|stoppingContainers|recovering|watching|polling)$/;

describe.each(Object.entries(machines))('the %s chart', (_name, machine) => {
  const nodes: AnyStateNode[] = [];
  const collect = (node: AnyStateNode) => {
    nodes.push(node);
    Object.values(node.states).forEach(collect);
  };
  collect(machine.root);

  test('says in one sentence what each state means', () => {
    expect(nodes.filter((n) => !/^[A-Z].*[.]$/s.test(n.description ?? '')).map((n) => n.id)).toEqual([]);
  });

  test('answers the failure of every effect', () => {
    const silent = nodes.flatMap((n) =>
      n.invoke.filter((i) => !n.transitions.has(`xstate.error.actor.${i.id}`)).map((i) => `${n.id}: ${String(i.src)}`),
    );
    expect(silent).toEqual([]);
  });

  test('runs one effect in states whose first word ends in -ing, and none in others', () => {
    const atoms = nodes.filter((n) => n !== machine.root && !Object.keys(n.states).length);
    const wrong = atoms.filter((n) =>
      /^[a-z]+ing(?![a-z])/.test(n.key) && !NO_EFFECT.test(n.key) ? n.invoke.length !== 1 : n.invoke.length !== 0,
    );
    expect(wrong.map((n) => n.id)).toEqual([]);
  });
});

const charts = chartsOf(machines);

describe('the charts that explain reads have words for all that holds something up', () => {
  const explained = [
    ...['pod', 'container', 'image-pull', 'volume', 'syncloop', 'pod-source', 'api-source', 'pod-writer', 'pleg'],
    ...['node', 'runtime-health', 'node-status', 'lease'],
  ];

  test.each(explained)('%s: guards, delays and events, and none that it has not', (name) => {
    const { words, delays, edges } = charts[name]!;
    const { guards } = machines[name]!.implementations;
    const events = edges
      .filter(({ kind, what }) => kind === 'on' && !what.startsWith('xstate.'))
      .map(({ what }) => what);
    expect(Object.keys(words?.guards ?? {}).sort()).toEqual(Object.keys(guards).sort());
    expect(Object.keys(words?.delays ?? {}).sort()).toEqual(Object.keys(delays).sort());
    expect(Object.keys(words?.events ?? {}).sort()).toEqual([...new Set(events)].sort());
  });

  test.each(explained)('%s: they are clauses without a full stop', (name) => {
    const { guards = {}, delays = {}, events = {} } = charts[name]?.words ?? {};
    const all = [...Object.values(guards), ...Object.values(delays), ...Object.values(events)];
    expect(all.filter((text) => !/^\S.*[^.]$/.test(text))).toEqual([]);
  });

  test.each(explained)('%s: what its states wait for are guards and events of theirs', (name) => {
    const { states, edges } = charts[name]!;
    const wrong = states.flatMap(({ path, awaits = [] }) =>
      awaits
        .filter((what) => !edges.some((edge) => edge.from === path && [edge.guard, edge.what].includes(what)))
        .map((what) => `${path}: ${what}`),
    );
    expect(wrong).toEqual([]);
  });
});

const generated = await pages();
test.each([...generated])('docs/statecharts/%s is fresh', (name, text) => {
  expect(readFileSync(join(ROOT, 'docs/statecharts', name), 'utf8')).toBe(text);
});

test('docs/statecharts has nothing of machines that are gone', () => {
  expect(readdirSync(join(ROOT, 'docs/statecharts')).sort()).toEqual([...generated.keys()].sort());
});

test.each(Object.entries(machines))(
  '%s has a test that walks all of it, as docs/statecharts/coverage.md says',
  (name, machine) => {
    const text = readFileSync(join(ROOT, `test/machines/${name}.paths.test.ts`), 'utf8');
    // Without exceptions.
    expect(text).toMatch(/expectAllTransitionsWalked\(report\)/);
    const { states, edges } = charts[name]!;
    expect(sizeOf(machine)).toEqual({ states: states.length - 1, transitions: edges.length });
  },
);
