import type { Explanation, Next } from './explain.types.ts';
import { span } from './words.ts';

/** An explanation as text for a terminal. @param now ms since the epoch */
export function renderExplanation(explained: Explanation, now: number): string {
  const { headline, places, waitsFor, next, whyNot, steps, similar } = explained;
  const section = (title: string, lines: readonly string[]) =>
    lines.length > 0 ? ['', title, ...lines.map((line) => `  ${line}`)] : [];
  return [
    headline,
    ...section('Did you mean', similar),
    ...section(
      'Where it is',
      places.map(({ who, state, meaning, since }) => `${who}: ${meaning} (${state}, for ${span(now - since)})`),
    ),
    ...section('What it waits for', [...new Set(waitsFor.map(({ text }) => text))]),
    ...section('What happens next', [...new Set(next.map(nextLine))]),
    ...section('Why it is not elsewhere', whyNot),
    ...section(
      'How it got here',
      steps.map(
        ({ at, who, meaning, because }) => `${new Date(at).toISOString()}  ${who}: ${meaning} Because: ${because}.`,
      ),
    ),
    '',
  ].join('\n');
}

const nextLine = ({ who, when, then }: Next) => `${who}: when ${when}: ${then}`;
