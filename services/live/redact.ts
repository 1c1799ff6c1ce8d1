import { collectSecrets, entriesOf, isName, isOpaque, isShown, ruleBelow, type Rule } from './secret-fields.ts';
import { Secrets } from './secrets.ts';

const REDACTED = '[redacted]';

/** Bounds of one tree. */
const DEPTH = 16;
const LENGTH = 200;
const TEXT = 4096;
const NODES = 20_000;
/** Secret wherever they stand: credentials in an address or a header, tokens, private keys. */
const SHAPES: readonly [RegExp, string][] = [
  [/(:\/\/)[^/@\s:]*:[^/@\s]*@/g, `$1${REDACTED}@`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/g, `$1 ${REDACTED}`],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, REDACTED],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
];

/**
 * Any value as a JSON tree of bounded size, with everything that may be secret replaced by `"[redacted]"`: values of
 * environment variables and of secrets, tokens, passwords, annotations, what containers wrote. Names and keys stay. A value
 * that is secret in one place is replaced wherever it stands in another text.
 *
 * @param elsewhere secrets that do not stand in the value itself
 */
export function redact(value: unknown, elsewhere?: Secrets): unknown {
  const secrets = new Secrets(elsewhere);
  collectSecrets(value, secrets);
  const path = new Set<object>();
  let nodes = 0;

  const text = (plain: string, key: string): string => {
    const hidden = isName(key) ? plain.slice(0, TEXT) : secrets.hide(plain, TEXT, REDACTED);
    const safe = SHAPES.reduce((result, [shape, mark]) => result.replace(shape, mark), hidden);
    return plain.length > TEXT ? `${safe}… (${plain.length} characters)` : safe;
  };

  const tree = (current: unknown, key: string, rule: Rule): unknown => {
    nodes += 1;
    if (current === undefined || current === null || typeof current === 'boolean' || current === '')
      return current ?? null;
    if (typeof current === 'function') return current.name ? `[function ${current.name}]` : '[function]';
    if (typeof current !== 'object') {
      if (!isShown(rule, key)) return REDACTED;
      if (typeof current === 'number' && Number.isFinite(current)) return current;
      return text(String(current), key);
    }
    if (isOpaque(current)) return opaque(current);
    if (path.has(current)) return '[circular]';
    if (path.size >= DEPTH || nodes > NODES) return '[cut]';
    path.add(current);
    const result = inside(current, rule);
    path.delete(current);
    return result;
  };

  const inside = (current: object, rule: Rule): unknown => {
    const all = entriesOf(current);
    const shown = all
      .slice(0, LENGTH)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => [text(key, ''), tree(inner, key, ruleBelow(rule, key, inner, current))] as const);
    const more = all.length > LENGTH ? [['…', `${all.length - LENGTH} more`] as const] : [];
    const isList = Array.isArray(current) || current instanceof Set;
    return isList ? [...shown, ...more].map(([, inner]) => inner) : Object.fromEntries([...shown, ...more]);
  };

  return tree(value, '', 'show');
}

function opaque(value: object): string {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Promise) return '[promise]';
  const { id = '', sessionId = '' } = value as { id?: unknown; sessionId?: unknown };
  return `[actor ${String(sessionId)} ${String(id)}]`;
}
