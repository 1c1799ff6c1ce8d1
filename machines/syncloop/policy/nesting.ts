import { Lexer } from 'yaml';

/** Levels of maps and lists that a document may have; each one costs the YAML parser more than the one before. */
export const MAX_NESTING = 500;

const OPEN = /[[{]/g;
const INLINE = new RegExp(`(?:[-?][ \\t]+){${MAX_NESTING}}`);

/**
 * Whether a YAML text has more levels than are accepted, told without parsing it: hundred thousand brackets would hold the
 * parser for seconds. Levels by indentation need so many bytes that the bound on a text's size is enough.
 */
export function isNestedTooDeeply(text: string): boolean {
  if (INLINE.test(text)) return true;
  if ((text.match(OPEN)?.length ?? 0) <= MAX_NESTING) return false;
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}
