import type { ElkExtendedEdge, ElkNode, LayoutOptions } from 'elkjs/lib/elk-api.js';
import { chartKey } from './chart-key.ts';
import type { Chart, State } from './chart.types.ts';
import type { Box, Dot, Label, Line, Note, PlacedChart, Rect } from './placed.types.ts';
import { LABEL, labelRows, NOTE, rowText, TITLE, widthOf, wrap } from './text.ts';

/** Whatever runs ELK: in Node its bundle, in a browser a worker. */
export interface LayoutEngine {
  layout(graph: ElkNode): Promise<ElkNode>;
}

const PADDING = 12;
const INITIAL = 10;
const ANY = { width: 34, height: 18 };

const OPTIONS: LayoutOptions = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.randomSeed': '1',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.compaction.postCompaction.strategy': 'EDGE_LENGTH',
  'elk.spacing.nodeNode': '26',
  'elk.spacing.edgeNode': '14',
  'elk.spacing.edgeEdge': '10',
  'elk.spacing.edgeLabel': '4',
  'elk.spacing.portPort': '10',
  'elk.spacing.nodeSelfLoop': '12',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
};

/** Downwards suits most; stars around a state that decides get too wide so, and are tried from left to right as well. */
const SHAPES: LayoutOptions[] = [
  { 'elk.direction': 'DOWN' },
  {
    'elk.direction': 'RIGHT',
    'elk.layered.layering.strategy': 'COFFMAN_GRAHAM',
    'elk.layered.layering.coffmanGraham.layerBound': '8',
  },
];

/** How much a picture has to shrink to be seen as a whole. */
const shrink = ({ width = 0, height = 0 }: ElkNode) => Math.max(width / 1200, height / 1000);

/**
 * Lays a chart out as a statechart: states in their parents, edges with what they are taken on. The same chart gives the
 * same picture. Rejects with the engine's error where it finds no layout.
 */
export async function layoutChart(chart: Chart, engine: LayoutEngine): Promise<PlacedChart> {
  const shapes = [];
  for (const shape of SHAPES) shapes.push(await engine.layout(graphOf(chart, shape)));
  const placed = shapes.reduce((best, other) => (shrink(other) < shrink(best) ? other : best));
  const boxes: Box[] = [];
  const dots: Dot[] = [];
  const states = new Map(chart.states.map((state) => [state.path, state]));
  const visit = ({ id, children = [], x = 0, y = 0, width = 0, height = 0 }: ElkNode) => {
    const rect = { x, y, width, height };
    const [kind = '', path = ''] = split(id);
    const state = states.get(path);
    if (kind === 'state' && state) boxes.push({ ...boxOf(chart, state), ...rect });
    if (kind === 'initial' || kind === 'any') dots.push({ kind, within: path, ...rect });
    children.forEach(visit);
  };
  (placed.children ?? []).forEach(visit);
  const lines = linesOf(chart).map((line): Line => {
    const edge = placed.edges?.find(({ id }) => id === line.id);
    return { from: line.from, to: line.to, isInitial: line.isInitial, ...route(edge, line) };
  });
  return {
    name: chart.name,
    key: chartKey(chart),
    width: placed.width ?? 0,
    height: placed.height ?? 0,
    boxes,
    dots,
    lines,
  };
}

const split = (id: string) => [id.slice(0, id.indexOf(':')), id.slice(id.indexOf(':') + 1)];
const parentOf = (path: string) => path.split('.').slice(0, -1).join('.');
const isInside = (path: string, parent: string) => !parent || path.startsWith(`${parent}.`);

function graphOf(chart: Chart, shape: LayoutOptions): ElkNode {
  return {
    id: 'state:',
    layoutOptions: { ...OPTIONS, ...shape, 'elk.padding': '[top=12,left=12,bottom=12,right=12]' },
    children: childrenOf(chart, chart.states[0]),
    edges: linesOf(chart).map(({ id, source, target, rows }): ElkExtendedEdge => ({
      id,
      sources: [source],
      targets: [target],
      labels: rows.length ? [{ id: `label:${id}`, text: id, ...labelSize(rows) }] : [],
    })),
  };
}

function childrenOf(chart: Chart, parent: State | undefined): ElkNode[] {
  if (!parent) return [];
  const inner = chart.states.filter((s) => s.path && parentOf(s.path) === parent.path);
  if (!inner.length) return [];
  const nodes = inner.map((state): ElkNode => {
    const children = childrenOf(chart, state);
    const box = boxOf(chart, state);
    const { width, height } = sizeOf(box);
    const top = headHeight(box) + 10;
    return {
      id: `state:${state.path}`,
      width,
      height,
      children,
      layoutOptions: {
        // Grows where many edges meet it, so that they can be told apart.
        'elk.nodeSize.constraints': '[MINIMUM_SIZE, PORTS]',
        'elk.nodeSize.minimum': `(${width},${height})`,
        ...(children.length && { 'elk.padding': `[top=${top},left=14,bottom=14,right=14]` }),
      },
    };
  });
  const dots: ElkNode[] = [];
  if (parent.initial) dots.push({ id: `initial:${parent.path}`, width: INITIAL, height: INITIAL });
  if (linesOf(chart).some((line) => line.source === `any:${parent.path}`))
    dots.push({ id: `any:${parent.path}`, ...ANY });
  return [...dots, ...nodes];
}

interface Drawn {
  id: string;
  from: string;
  to: string;
  isInitial: boolean;
  source: string;
  target: string;
  rows: Label['rows'];
}

/** What is drawn: an arrow from a state to another, however many edges lead there; and into each first state. */
function linesOf(chart: Chart): Drawn[] {
  const places = new Map<string, number[]>();
  chart.edges.forEach(({ from, to, internal }, place) => {
    if (to === undefined) return;
    // An edge from a parent to a state inside would run along the inside of its box; it begins at a mark there.
    const source = internal || isInside(to, from) ? `any:${from}` : `state:${from}`;
    const id = `${source}>state:${to}`;
    places.set(id, [...(places.get(id) ?? []), place]);
  });
  const initial = chart.states.flatMap(({ path, initial: to }) =>
    to === undefined
      ? []
      : [
          {
            id: `initial:${path}>`,
            from: path,
            to,
            isInitial: true,
            source: `initial:${path}`,
            target: `state:${to}`,
            rows: [],
          },
        ],
  );
  const edges = [...places].map(([id, own]) => {
    const [source = '', target = ''] = id.split('>');
    const [, from = ''] = split(source);
    const [, to = ''] = split(target);
    return { id, from, to, isInitial: false, source, target, rows: labelRows(chart, own) };
  });
  return [...initial, ...edges];
}

function route(edge: ElkExtendedEdge | undefined, { rows, id }: Drawn): Pick<Line, 'points' | 'label'> {
  const [section] = edge?.sections ?? [];
  if (!section) throw new Error(`the layout has no way for ${id}`);
  const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map(({ x, y }) => ({ x, y }));
  const [label] = edge?.labels ?? [];
  if (!label) return { points };
  const { x = 0, y = 0, width = 0, height = 0 } = label;
  return { points, label: { x, y, width, height, rows } };
}

function labelSize(rows: Label['rows']): Pick<Rect, 'width' | 'height'> {
  const width = Math.max(...rows.map((row) => widthOf(rowText(row), LABEL)));
  return { width: width + 6, height: rows.length * LABEL.height + 2 };
}

function boxOf(chart: Chart, state: State): Omit<Box, keyof Rect> {
  const title = state.path.split('.').at(-1) ?? '';
  const notes: Note[] = [
    ...state.invokes.map((text): Note => ({ kind: 'runs', text })),
    ...wrap(state.entry.join(', ')).map((text): Note => ({ kind: 'entry', text })),
    ...wrap(state.exit.join(', ')).map((text): Note => ({ kind: 'exit', text })),
  ];
  return { path: state.path, title, description: state.description, role: roleOf(chart, state), notes };
}

/** Whether a state runs an effect, waits, or goes on at once: what its colour says. */
function roleOf({ states, edges }: Chart, { path, kind, invokes }: State): Box['role'] {
  if (kind === 'final') return 'final';
  if (states.some((s) => parentOf(s.path) === path && s.path !== path)) return 'parent';
  if (invokes.length) return 'effect';
  const waits = edges.some((e) => e.from === path && e.to !== undefined && (e.kind === 'after' || e.kind === 'on'));
  return waits ? 'wait' : 'choice';
}

const headHeight = ({ notes }: Pick<Box, 'notes'>) => PADDING + TITLE.height + notes.length * NOTE.height;

function sizeOf(box: Pick<Box, 'title' | 'notes'>): Pick<Rect, 'width' | 'height'> {
  const width = Math.max(widthOf(box.title, TITLE), ...box.notes.map(({ text }) => widthOf(text, NOTE) + 14));
  return { width: Math.max(84, width + 2 * PADDING), height: headHeight(box) + 6 };
}
