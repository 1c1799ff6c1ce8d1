import type { Box, Dot, LabelPart, Line, Note, PlacedChart, Point } from './placed.types.ts';
import { LABEL, NOTE, TITLE } from './text.ts';

/** The picture's colours and faces; the page gives the same names other values. */
export const chartStyle = `
.chart{--c-ground:#fff;--c-box:#fff;--c-parent:#f6f8fa;--c-edge:#57606a;--c-line:#8c959f;--c-text:#1f2328;--c-dim:#59636e;--c-effect:#ddf4ff;--c-effect-line:#54aeff;--c-wait:#fff8c5;--c-wait-line:#d4a72c;--c-final:#eaeef2;--c-final-line:#8c959f;--c-event:#0550ae;--c-guard:#6639ba}
@media (prefers-color-scheme:dark){.chart{--c-ground:#0d1117;--c-box:#161b22;--c-parent:#11161d;--c-edge:#8b949e;--c-line:#484f58;--c-text:#e6edf3;--c-dim:#9198a1;--c-effect:#0c2d4d;--c-effect-line:#388bfd;--c-wait:#3b2e0a;--c-wait-line:#bb8009;--c-final:#21262d;--c-final-line:#6e7681;--c-event:#79c0ff;--c-guard:#d2a8ff}}
.chart{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.chart .ground{fill:var(--c-ground)}
.chart .state>rect{fill:var(--c-box);stroke:var(--c-line)}
.chart .parent>rect{fill:var(--c-parent)}
.chart .effect>rect{fill:var(--c-effect);stroke:var(--c-effect-line)}
.chart .wait>rect{fill:var(--c-wait);stroke:var(--c-wait-line)}
.chart .final>rect{fill:var(--c-final);stroke:var(--c-final-line)}
.chart .final>.inner{fill:none}
.chart .title{fill:var(--c-text);font-size:${TITLE.size}px;font-weight:600}
.chart .note{fill:var(--c-dim);font-size:${NOTE.size}px}
.chart .text.parent text{paint-order:stroke;stroke:var(--c-parent);stroke-width:4px;stroke-linejoin:round}
.chart .edge path{fill:none;stroke:var(--c-edge);stroke-width:1.2}
.chart .edge .head,.chart .dot{fill:var(--c-edge);stroke:none}
.chart .any rect{fill:none;stroke:var(--c-edge);stroke-dasharray:2 2}
.chart .any text{fill:var(--c-dim);font-size:${NOTE.size}px}
.chart .label rect{fill:var(--c-ground);opacity:.82}
.chart .label text{font-size:${LABEL.size}px}
.chart .event{fill:var(--c-event)}
.chart .guard{fill:var(--c-guard)}`;

const MARK: Record<Note['kind'], string> = { runs: '▸', entry: '↓', exit: '↑' };

/**
 * Draws a placed chart. States and edges carry `data-state`, `data-from` and `data-to`, for a page that lights them.
 * `standalone` makes a file of its own, with its style in it; a page whose policy forbids inline styles brings `chartStyle`.
 */
export function chartSvg(chart: PlacedChart, { standalone }: { standalone: boolean }): string {
  const width = Math.ceil(chart.width);
  const height = Math.ceil(chart.height);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" data-chart="${chart.key}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Statechart ${escape(chart.name)}">`,
    ...(standalone ? [`<style>${chartStyle}\n</style>`] : []),
    `<rect class="ground" width="${width}" height="${height}"/>`,
    ...chart.boxes.map(boxSvg),
    ...chart.dots.map(dotSvg),
    ...chart.lines.map(lineSvg),
    ...chart.boxes.map(textSvg),
    ...chart.lines.map(labelSvg),
    '</svg>',
    '',
  ]
    .filter((line, index, all) => line || index === all.length - 1)
    .join('\n');
}

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const px = (value: number) => String(Math.round(value * 10) / 10);

function boxSvg({ path, role, description, x, y, width, height }: Box): string {
  const rect = (inset: number, name = '') =>
    `<rect${name} x="${px(x + inset)}" y="${px(y + inset)}" width="${px(width - 2 * inset)}" height="${px(height - 2 * inset)}" rx="${6 - inset}"/>`;
  const inner = role === 'final' ? rect(3, ' class="inner"') : '';
  return `<g class="state ${role}" data-state="${escape(path)}">${tooltip(path, description)}${rect(0)}${inner}</g>`;
}

const tooltip = (path: string, description: string) => `<title>${escape(`${path}: ${description}`)}</title>`;

/** A state's text lies above the edges, which may pass through its parents' heads. */
function textSvg({ path, role, title, description, notes, x, y }: Box): string {
  const rows = notes.map(({ kind, text }, row) => {
    const isFirst = kind === 'runs' || notes[row - 1]?.kind !== kind;
    return `<text class="note" x="${px(x + 12)}" y="${px(y + 36 + row * NOTE.height)}">${isFirst ? MARK[kind] : '\u2007'} ${escape(text)}</text>`;
  });
  return `<g class="text ${role}" data-state="${escape(path)}">${tooltip(path, description)}<text class="title" x="${px(x + 12)}" y="${px(y + 20)}">${escape(title)}</text>${rows.join('')}</g>`;
}

function dotSvg({ kind, x, y, width, height }: Dot): string {
  if (kind === 'initial')
    return `<circle class="dot" cx="${px(x + width / 2)}" cy="${px(y + height / 2)}" r="${px(width / 2)}"/>`;
  return `<g class="any"><title>In whichever of these states</title><rect x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" rx="${px(height / 2)}"/><text x="${px(x + width / 2)}" y="${px(y + height / 2 + 3.5)}" text-anchor="middle">any</text></g>`;
}

function lineSvg({ from, to, isInitial, points }: Line): string {
  const data = isInitial ? '' : ` data-from="${escape(from)}" data-to="${escape(to)}"`;
  return `<g class="edge"${data}><path d="${rounded(points)}"/><path class="head" d="${arrowHead(points)}"/></g>`;
}

function labelSvg({ from, to, label }: Line): string {
  if (!label) return '';
  const { x, y, width, height, rows } = label;
  const texts = rows.map(
    ({ parts, edges }, row) =>
      `<text data-edges="${edges.join(' ')}" x="${px(x + 3)}" y="${px(y + 11 + row * LABEL.height)}">${parts.map(partSvg).join(' ')}</text>`,
  );
  return `<g class="label" data-from="${escape(from)}" data-to="${escape(to)}"><rect x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}"/>${texts.join('')}</g>`;
}

const partSvg = ({ kind, text }: LabelPart) => `<tspan class="${kind}">${escape(text)}</tspan>`;

/** A way with rounded corners, which ends a little before the arrow's point. */
function rounded(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const steps = rest.map((point, index) => {
    const before = points[index] ?? point;
    const after = rest[index + 1];
    if (!after) return `L${at(towards(point, before, 5))}`;
    return `L${at(towards(point, before, 5))}Q${at(point)} ${at(towards(point, after, 5))}`;
  });
  return `M${at(first)}${steps.join('')}`;
}

function arrowHead(points: readonly Point[]): string {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (!tip || !before) return '';
  const foot = towards(tip, before, 7);
  const across = { x: (foot.y - tip.y) / 2, y: (tip.x - foot.x) / 2 };
  return `M${at(tip)}L${at({ x: foot.x + across.x, y: foot.y + across.y })}L${at({ x: foot.x - across.x, y: foot.y - across.y })}Z`;
}

const at = ({ x, y }: Point) => `${px(x)} ${px(y)}`;

/** The point at a distance from `from` on the way to `to`, at most half way. */
function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  if (!length) return from;
  const part = Math.min(distance, length / 2) / length;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}
