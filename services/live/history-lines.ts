import type { Transition } from './live.types.ts';

/** Of the lines' shape; another one is set aside. */
const VERSION = 1;
/** The first line of each file. */
export const HEAD = `${JSON.stringify({ statelet: 'history', version: VERSION })}\n`;

export const encodeTransition = (transition: Transition): string => `${JSON.stringify(transition)}\n`;

/** What can be read of a file, up to the first line that cannot; `problem` says which and why. */
export function decodeHistory(text: string): { transitions: readonly Transition[]; problem?: string } {
  const transitions: Transition[] = [];
  if (text === '') return { transitions };
  if (!text.startsWith(HEAD)) return { transitions, problem: 'does not begin as a history of this version' };
  const lines = text.slice(HEAD.length).split('\n');
  if (lines.pop() !== '') return { transitions: lines.flatMap(decoded), problem: 'ends in the middle of a line' };
  for (const [i, line] of lines.entries()) {
    const [transition] = decoded(line);
    if (!transition) return { transitions, problem: `has a line that is no transition: ${i + 2}` };
    transitions.push(transition);
  }
  return { transitions };
}

function decoded(line: string): readonly Transition[] {
  try {
    const value = JSON.parse(line) as Partial<Transition> | null;
    const { at, actor, machine, from = '', to, event, cause, sessionId } = value ?? {};
    const texts = [actor, machine, from, to, event, cause?.by, cause?.detail ?? '', sessionId];
    if (!Number.isFinite(at) || texts.some((text) => typeof text !== 'string')) return [];
    return [value as Transition];
  } catch (error) {
    if (error instanceof Error && error.name === 'SyntaxError') return [];
    throw error;
  }
}
