import ELK from 'elkjs/lib/elk-api.js';
import { chartKey } from '../../charts/chart-key.ts';
import type { Chart } from '../../charts/chart.types.ts';
import { layoutChart } from '../../charts/layout.ts';
import { chartSvg } from '../../charts/svg.ts';

export interface Picture {
  svg: string;
  width: number;
  height: number;
}

const pictures = new Map<Chart, Promise<Picture>>();
let engine: InstanceType<typeof ELK> | undefined;

/** The picture of a chart: the one that came with the page where it fits, else laid out here, beside the page's own thread. */
export function pictureOf(chart: Chart): Promise<Picture> {
  const found = pictures.get(chart) ?? draw(chart);
  pictures.set(chart, found);
  return found;
}

async function draw(chart: Chart): Promise<Picture> {
  const drawn = await fetched(chart);
  if (drawn) return drawn;
  engine ??= new ELK({ workerUrl: new URL('elk-worker.js', import.meta.url).href });
  const placed = await layoutChart(chart, engine);
  return { svg: chartSvg(placed, { standalone: false }), width: placed.width, height: placed.height };
}

async function fetched(chart: Chart): Promise<Picture | undefined> {
  const answer = await fetch(new URL(`${chart.name}.svg`, import.meta.url)).catch(() => undefined);
  const svg = answer?.ok ? await answer.text() : '';
  const [, key, width, height] = /^<svg[^>]* data-chart="(\w+)"[^>]* width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
  if (key !== chartKey(chart)) return undefined;
  // The page has the style already, and its policy forbids others.
  return { svg: svg.replace(/<style>[^]*?<\/style>/, ''), width: Number(width), height: Number(height) };
}
