import type { Chart } from './chart.types.ts';

/** Tells charts apart: a picture that was drawn earlier fits a chart of the same key (FNV-1a of its JSON). */
export function chartKey(chart: Chart): string {
  let hash = 0x811c9dc5;
  for (const char of JSON.stringify(chart)) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
