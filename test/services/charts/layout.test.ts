import { beforeAll, describe, expect, test } from '@jest/globals';
import elkjs from 'elkjs/lib/elk.bundled.js';
import { machines } from '../../../bin/charts.ts';
import { chartsOf } from '../../../services/charts/chart-of.ts';
import type { Chart } from '../../../services/charts/chart.types.ts';
import { layoutChart } from '../../../services/charts/layout.ts';
import type { PlacedChart, Point, Rect } from '../../../services/charts/placed.types.ts';
import { chartSvg } from '../../../services/charts/svg.ts';

const charts = chartsOf(machines);
const engine = new elkjs.default();
const overlap = (a: Rect, b: Rect) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
const holds = (a: Rect, b: Rect) =>
  a.x <= b.x && a.y <= b.y && a.x + a.width >= b.x + b.width && a.y + a.height >= b.y + b.height;
const isOn = ({ x, y }: Point, r: Rect) =>
  x >= r.x - 1 && x <= r.x + r.width + 1 && y >= r.y - 1 && y <= r.y + r.height + 1;
const parentOf = (path: string) => path.split('.').slice(0, -1).join('.');
const isWithin = (path: string, other: string) => path === other || path.startsWith(`${other}.`);

describe.each(Object.values(charts))('the picture of $name', (chart: Chart) => {
  let placed: PlacedChart;
  beforeAll(async () => {
    placed = await layoutChart(chart, engine);
  });
  const boxAt = (path: string) => placed.boxes.find((b) => b.path === path) ?? placed;

  test('has every state, within its parent', () => {
    expect(placed.boxes.map((b) => b.path).sort()).toEqual(chart.states.flatMap((s) => s.path || []).sort());
    const outside = placed.boxes.filter((box) => !holds({ x: 0, y: 0, ...boxAt(parentOf(box.path)) }, box));
    expect(outside.map((b) => b.path)).toEqual([]);
  });

  test('has no state over another', () => {
    const over = placed.boxes.flatMap((a) =>
      placed.boxes
        .filter((b) => !isWithin(a.path, b.path) && !isWithin(b.path, a.path) && overlap(a, b))
        .map((b) => `${a.path} over ${b.path}`),
    );
    expect(over).toEqual([]);
  });

  test('has no label over a state that has none inside, nor over another label', () => {
    const labels = placed.lines.flatMap(({ from, to, label }) => (label ? { name: `${from} → ${to}`, ...label } : []));
    const leaves = placed.boxes.filter((b) => b.role !== 'parent');
    const over = labels.flatMap((label, place) => [
      ...leaves.filter((box) => overlap(label, box)).map((box) => `${label.name} over ${box.path}`),
      ...labels
        .filter((other, at) => at > place && overlap(label, other))
        .map((other) => `${label.name} over ${other.name}`),
    ]);
    expect(over).toEqual([]);
  });

  test('has an arrow for every edge that leads somewhere, from its state to its state', () => {
    const shown = placed.lines.filter((l) => !l.isInitial);
    for (const { from, to } of chart.edges)
      if (to !== undefined) expect(shown.filter((l) => l.from === from && l.to === to)).toHaveLength(1);
    const astray = shown.filter(({ from, to, points }) => {
      const mark = placed.dots.find((d) => d.kind === 'any' && d.within === from);
      const start = isWithin(to, from) && to !== from ? mark : boxAt(from);
      const [first, last] = [points[0], points.at(-1)];
      return (
        !first || !last || !start || !isOn(first, { x: 0, y: 0, ...start }) || !isOn(last, { x: 0, y: 0, ...boxAt(to) })
      );
    });
    expect(astray).toEqual([]);
  });

  test('names every event and guard of its arrows', () => {
    for (const line of placed.lines) {
      const places = line.label?.rows.flatMap((row) => row.edges) ?? [];
      const told = chart.edges.filter(
        (e) => e.from === line.from && e.to === line.to && (e.kind !== 'always' || e.guard),
      );
      if (!line.isInitial)
        expect([...new Set(places)].map((p) => chart.edges[p])).toEqual(expect.arrayContaining(told));
    }
  });
});

describe('a picture', () => {
  test('is the same each time', async () => {
    const chart = charts['image-pull'] as Chart;
    const again = { ...chart, states: structuredClone(chart.states) };
    expect(await layoutChart(again, new elkjs.default())).toEqual(await layoutChart(chart, engine));
  });

  test('is an SVG file with its own style, for light and dark; for a page it is without', async () => {
    const placed = await layoutChart(charts.lease as Chart, engine);
    const file = chartSvg(placed, { standalone: true });
    expect(file).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    expect(file).toContain('prefers-color-scheme:dark');
    expect(file).toContain('data-state="gettingLease"');
    expect(file).toContain('>[isNotFound]<');
    const inPage = chartSvg(placed, { standalone: false });
    expect(inPage).not.toMatch(/<style|style=/);
    expect(inPage).toContain('data-from="gettingLease" data-to="creatingLease"');
  });

  test('writes what a name holds as text', async () => {
    const state = { path: 'a', kind: 'atomic' as const, tags: [], invokes: [], entry: [], exit: [] };
    const chart: Chart = {
      name: 'x"><script>',
      machine: 'x',
      description: '',
      states: [
        { ...state, path: '', kind: 'compound', initial: 'a<b', description: '' },
        { ...state, path: 'a<b', description: '</title><script>alert(1)</script>' },
      ],
      edges: [],
      children: [],
      watches: [],
      delays: {},
    };
    const svg = chartSvg(await layoutChart(chart, engine), { standalone: false });
    expect(svg).not.toContain('<script>');
    expect(svg).toContain('a&lt;b');
  });
});
