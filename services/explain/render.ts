import type { Explanation, Next } from './explain.types.ts';
import { span } from './words.ts';

/** An explanation as text for a terminal. @param now ms since the epoch */
export function renderExplanation(explained: Explanation, now: number): string {
  const { headline, places, waitsFor, next, whyNot, steps, similar } = explained;
  const section = (title: string, lines: readonly string[]) =>
    lines.length > 0 ? ['', title, ...lines.map((line) => `  ${line}`)] : [];
  const lines = [
    headline,
    ...section('Did you mean', similar),
    ...section(
      'Where it is',
      places.map(({ who, state, meaning, since }) => `${who}: ${meaning} (${state}, for ${span(now - since)})`),
    ),
    ...section(
      'What it waits for',
      unsaid(
        headline,
        waitsFor.map(({ text }) => text),
      ),
    ),
    ...section('What happens next', [...new Set(next.map(nextLine))]),
    ...section('Why it is not elsewhere', unsaid(headline, whyNot)),
    ...section(
      'How it got here',
      steps.map(
        ({ at, who, meaning, because }) => `${new Date(at).toISOString()}  ${who}: ${meaning} Because: ${because}.`,
      ),
    ),
    '',
  ];
  return lines.map(printable).join('\n');
}

/** What a container wrote must not move the cursor or look like another line. */
const printable = (line: string) =>
  line.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** Each line once, without those that the headline has said already. */
export function unsaid(headline: string, lines: readonly string[]): string[] {
  const said = headline.toLowerCase();
  return [...new Set(lines)].filter((line) => !said.includes(line.replace(/\.$/, '').toLowerCase()));
}

const nextLine = ({ who, when, then }: Next) => `${who}: when ${when}: ${then}`;
