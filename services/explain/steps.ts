import type { Chart } from '../charts/chart.types.ts';
import type { Scene, Step } from './explain.types.ts';

const MOST_STEPS = 12;

/** A cause in words: the history keeps the names of timers and calls. */
function becauseOf(chart: Chart | undefined, by: string, detail: string | undefined): string {
  const [, delay = ''] = by === 'timer' ? (/^(\S+) is over$/.exec(detail ?? '') ?? []) : [];
  const words = chart?.words?.delays[delay];
  if (words !== undefined) return `${words} is over`;
  const [, call, reason] = by === 'effectFailed' ? (/^(\w+): (.*)$/s.exec(detail ?? '') ?? []) : [];
  return call === undefined ? (detail ?? by) : `the call ${call} failed (${reason})`;
}

/** The last steps of all that is about one, in words. */
export function stepsOf({ live, charts }: Scene, about: string): Step[] {
  return live
    .history(about)
    .slice(-MOST_STEPS)
    .map(({ at, actor: who, machine, to, cause: { by, detail } }) => ({
      at,
      who,
      to,
      meaning: to
        .split(', ')
        .map((path) => charts[machine]?.states.find((state) => state.path === path)?.description ?? path)
        .join(' '),
      because: becauseOf(charts[machine], by, detail),
    }));
}
