import type { Chart, Edge } from '../../charts/chart.types.ts';
import type { Transition } from '../../live/live.types.ts';
import { pathsOf } from './verdict.ts';

/** More steps than any chart takes at once. */
const LONGEST = 8;

/**
 * Places in the chart's edges that a transition went along: the edge of its event, then those that are taken at once,
 * through states in which nothing stays. Empty where the chart knows no such way.
 */
export function walked(chart: Chart, { from = '', to, event }: Transition): number[] {
  const before = pathsOf(from);
  const gone = before.filter((path) => !pathsOf(to).includes(path));
  const come = pathsOf(to).filter((path) => !before.includes(path));
  const starts = gone.length ? gone : before;
  const ends = new Set(come.length ? come : pathsOf(to));
  return starts.flatMap((start) => search(chart, start, ends, event));
}

function search(chart: Chart, start: string, ends: ReadonlySet<string>, event: string): number[] {
  let ways: { at: string; steps: number[] }[] = [{ at: start, steps: [] }];
  const seen = new Set<string>();
  for (let step = 0; step < LONGEST && ways.length; step += 1) {
    const next: typeof ways = [];
    for (const { at, steps } of ways)
      for (const [place, edge] of chart.edges.entries()) {
        if (edge.to === undefined || !isFrom(edge, at)) continue;
        // First the event, or at once where it had come already.
        if (step === 0 ? edge.event !== event && edge.what !== event && edge.kind !== 'always' : !isAtOnce(edge))
          continue;
        const way = { at: firstIn(chart, edge.to), steps: [...steps, place] };
        if (ends.has(way.at) || ends.has(edge.to)) return way.steps;
        const key = `${way.at} ${place}`;
        if (!seen.has(key)) next.push(way);
        seen.add(key);
      }
    ways = next;
  }
  return [];
}

const isFrom = ({ from }: Edge, at: string) => from === '' || from === at || at.startsWith(`${from}.`);
const isAtOnce = ({ kind, event }: Edge) => kind === 'always' || event.startsWith('xstate.done.state.');

function firstIn({ states }: Chart, path: string): string {
  const initial = states.find((s) => s.path === path)?.initial;
  return initial === undefined ? path : firstIn({ states } as Chart, initial);
}
