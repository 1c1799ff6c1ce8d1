import { FIELDS } from './data/fields.ts';
import type { FieldRow } from './tables.types.ts';

/** The shape of KubeletConfiguration, made of its table. */
export type Schema =
  | { kind: 'object'; fields: ReadonlyMap<string, Schema> }
  | { kind: 'list'; of: Schema }
  | { kind: 'map'; of: Schema }
  | { kind: 'scalar'; type: string; accepted?: readonly string[] };

/** A field of the table with its steps, none of a list's items. */
export interface TopField extends FieldRow {
  steps: readonly string[];
}

/** Every field that has a value of its own, in the table's order; the fields of list items are part of their list. */
export const TOP_FIELDS: readonly TopField[] = FIELDS.filter((f) => !f.path.includes('[]') && f.type !== 'object').map(
  (f) => ({ ...f, steps: f.path.split('.') }),
);

/** The whole file's schema. */
export const SCHEMA: Schema = objectAt('');

function objectAt(prefix: string): Schema {
  const fields = new Map<string, Schema>();
  for (const { path, type } of FIELDS) {
    if (!path.startsWith(prefix)) continue;
    const [step = ''] = path.slice(prefix.length).split('.');
    const name = step.replace('[]', '');
    if (!name || fields.has(name)) continue;
    const here = prefix + name;
    const listed = FIELDS.some((f) => f.path.startsWith(`${here}[].`));
    if (listed) fields.set(name, { kind: 'list', of: objectAt(`${here}[].`) });
    else if (path !== here || type === 'object') fields.set(name, objectAt(`${here}.`));
    else fields.set(name, typed(type));
  }
  return { kind: 'object', fields };
}

function typed(type: string): Schema {
  if (type.startsWith('[]')) return { kind: 'list', of: typed(type.slice(2)) };
  if (type.startsWith('map[string]')) return { kind: 'map', of: typed(type.slice('map[string]'.length)) };
  const choice = /^enum\((.*)\)$/.exec(type);
  return choice ? { kind: 'scalar', type: 'string', accepted: choice[1]?.split('|') } : { kind: 'scalar', type };
}

/** The path as it is shown and kept in `origins`: a key that is no plain word stands in brackets. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  if (!/^[A-Za-z_]\w*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path ? `${path}.${key}` : key;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at the steps; undefined where any of them is missing. */
export function valueAt(object: JsonObject, steps: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const step of steps) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

/** Sets the value at the steps, making the objects on the way. */
export function setValueAt(object: JsonObject, steps: readonly string[], value: Json): void {
  let at = object;
  for (const step of steps.slice(0, -1)) {
    const next = Object.hasOwn(at, step) ? at[step] : undefined;
    at = isObject(next) ? next : (at[step] = {});
  }
  at[steps.at(-1) ?? ''] = value;
}
