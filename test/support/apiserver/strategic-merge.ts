import { badRequest } from './errors.ts';
import { fieldsOf, isScalar } from './schema.ts';
import type { Field } from './schema.ts';
import { isDict } from './objects.ts';
import type { Dict } from './objects.ts';

const ORDER = '$setElementOrder/';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const RETAIN = '$retainKeys';
const DIRECTIVE = '$patch';

/**
 * A strategic merge patch of an object of `type` (undefined: a map or an unknown type, merged as JSON merge patch does).
 * Directives: `$patch: replace|delete|merge`, `$retainKeys`, `$setElementOrder/x`, `$deleteFromPrimitiveList/x`.
 * Source of the rules: apimachinery pkg/util/strategicpatch and the API conventions' page on patches.
 */
export function strategicMerge(original: Dict, patch: Dict, type: string | undefined): Dict {
  const directive = patch[DIRECTIVE];
  if (directive === 'replace') return without(patch, DIRECTIVE);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge')
    throw badRequest(`unknown patch directive ${String(directive)}`);
  const fields = type === undefined || isScalar(type) ? undefined : fieldsOf(type);
  const retain = patch[RETAIN];
  const result: Dict = Array.isArray(retain)
    ? Object.fromEntries(Object.entries(original).filter(([key]) => retain.includes(key)))
    : { ...original };
  for (const [key, value] of Object.entries(patch)) {
    if (key === DIRECTIVE || key === RETAIN || key.startsWith(ORDER)) continue;
    if (key.startsWith(DELETE_FROM)) removeScalars(result, key.slice(DELETE_FROM.length), value);
    else if (value === null) delete result[key];
    else result[key] = mergeValue(result[key], value, fields?.get(key), patch[ORDER + key]);
  }
  for (const [key, order] of Object.entries(patch)) {
    const list = key.startsWith(ORDER) && patch[key.slice(ORDER.length)] === undefined && key.slice(ORDER.length);
    if (!list || !Array.isArray(result[list])) continue;
    result[list] = inOrder(result[list], result[list], order, fields?.get(list)?.mergeKey);
  }
  return result;
}

const without = (dict: Dict, name: string) => Object.fromEntries(Object.entries(dict).filter(([key]) => key !== name));

function removeScalars(result: Dict, key: string, values: unknown): void {
  const list = result[key];
  if (Array.isArray(list) && Array.isArray(values)) result[key] = list.filter((item) => !values.includes(item));
}

function mergeValue(original: unknown, value: unknown, field: Field | undefined, order: unknown): unknown {
  if (isDict(value))
    return strategicMerge(isDict(original) ? original : {}, value, field?.shape === 'one' ? field.type : undefined);
  if (!Array.isArray(value) || field?.mergeKey === undefined) return value;
  const before: unknown[] = Array.isArray(original) ? original : [];
  const after = field.mergeKey
    ? mergeByKey(before.filter(isDict), value, field.mergeKey, field.type)
    : [...before, ...value.filter((item) => !before.includes(item))];
  return inOrder(after, before, order, field.mergeKey);
}

function mergeByKey(original: Dict[], patch: unknown[], key: string, type: string): Dict[] {
  const items = patch.filter(isDict);
  if (items.some((item) => item[DIRECTIVE] === 'replace' && item[key] === undefined))
    return items.filter((item) => item[DIRECTIVE] !== 'replace');
  const result = [...original];
  for (const item of items) {
    if (item[key] === undefined)
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    const index = result.findIndex((other) => other[key] === item[key]);
    const found = result[index];
    if (item[DIRECTIVE] === 'delete') result.splice(0, result.length, ...result.filter((o) => o[key] !== item[key]));
    else if (found) result[index] = strategicMerge(found, item, type);
    else result.push(strategicMerge({}, item, type));
  }
  return result;
}

/** Listed items stand in the order that the patch names; others keep their place before what followed them. */
function inOrder(items: unknown[], before: unknown[], order: unknown, mergeKey: string | undefined): unknown[] {
  if (!Array.isArray(order) || mergeKey === undefined) return items;
  const id = (item: unknown) => (mergeKey && isDict(item) ? item[mergeKey] : item);
  const wanted = order.map(id);
  const place = (item: unknown) => wanted.indexOf(id(item));
  const old = before.map(id);
  const result = items.filter((item) => place(item) >= 0).sort((a, b) => place(a) - place(b));
  for (const item of items.filter((item) => place(item) < 0)) {
    const next = result.findIndex((other) => old.indexOf(id(other)) > old.indexOf(id(item)));
    result.splice(next < 0 ? result.length : next, 0, item);
  }
  return result;
}
