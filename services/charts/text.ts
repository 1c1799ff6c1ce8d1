import type { Chart, Edge } from './chart.types.ts';
import type { LabelPart, LabelRow } from './placed.types.ts';

/** Sizes of the text, px. Names are set in a monospaced face: their width is known without a browser. */
export const TITLE = { size: 13, height: 18, advance: 7.83 };
export const NOTE = { size: 10.5, height: 14, advance: 6.33 };
export const LABEL = { size: 10.5, height: 14, advance: 6.33 };

/** Longest row of a label, in characters; longer ones are broken. */
const LONGEST = 26;

export const widthOf = (text: string, face: { advance: number }) => Math.ceil(text.length * face.advance);

/** What stands at the edges from one state to another, an edge below the other, equal ones once. */
export function labelRows(chart: Chart, places: readonly number[]): LabelRow[] {
  const seen = new Map<string, LabelRow[]>();
  for (const place of places) {
    const edge = chart.edges[place];
    if (!edge) continue;
    const rows = partsOf(chart, edge).map((parts) => ({ parts, edges: [place] }));
    const key = rows.map(rowText).join('\n');
    const same = seen.get(key);
    if (same) for (const row of same) row.edges.push(place);
    else seen.set(key, rows);
  }
  return [...seen.values()].flat();
}

export const rowText = ({ parts }: Pick<LabelRow, 'parts'>) => parts.map(({ text }) => text).join(' ');

/** `event [guard]`, in one row where it is short enough. */
function partsOf(chart: Chart, edge: Edge): LabelPart[][] {
  const when = whenText(chart, edge);
  const guard = edge.guard ? `[${edge.guard}]` : '';
  const event = wrap(when).map((text): LabelPart => ({ kind: 'event', text }));
  const guards = wrap(guard).map((text): LabelPart => ({ kind: 'guard', text }));
  const all = [...event, ...guards];
  return event.length === 1 && guards.length === 1 && when.length + guard.length < LONGEST
    ? [all]
    : all.map((part) => [part]);
}

/** In a picture an effect's end needs no name: its state runs only that one. */
function whenText({ delays }: Chart, { kind, what, from }: Edge): string {
  if (kind === 'on') return what;
  if (kind === 'done' || kind === 'error') return from ? kind : `${kind} ${what}`;
  if (kind === 'always') return '';
  const ms = delays[what];
  return `after ${what}${typeof ms === 'number' ? ` (${ms / 1000} s)` : ''}`;
}

/** Breaks a text after blanks and commas, then after dots, where it is longer than a row. */
export function wrap(text: string, longest = LONGEST): string[] {
  const rows: string[] = [];
  let row = '';
  for (const piece of text.match(/[^\s,.]*[\s,.]*|.+/g) ?? []) {
    if (row && (row + piece).trimEnd().length > longest) {
      rows.push(row.trimEnd());
      row = '';
    }
    row += piece;
  }
  return row.trim() ? [...rows, row.trimEnd()] : rows;
}
