import ELK from 'elkjs/lib/elk-api.js';
import type { Chart } from '../../charts/chart.types.ts';
import { layoutChart } from '../../charts/layout.ts';
import type { PlacedChart } from '../../charts/placed.types.ts';

let engine: InstanceType<typeof ELK> | undefined;
const placed = new Map<Chart, Promise<PlacedChart>>();

/** The chart laid out, once, beside the page's own thread. */
export function place(chart: Chart): Promise<PlacedChart> {
  engine ??= new ELK({ workerUrl: new URL('elk-worker.js', import.meta.url).href });
  const found = placed.get(chart) ?? layoutChart(chart, engine);
  placed.set(chart, found);
  return found;
}
