import type { LoadedConfig } from './load-config.ts';
import { originOf } from './merge.ts';
import { isObject, joinPath, setValueAt, TOP_FIELDS, valueAt, type Json, type JsonObject } from './schema.ts';

/** Headers may carry tokens; they are not printed. */
const SECRETS = ['staticPodURLHeader'];

/** The configuration in the order of the table, secrets struck out. */
export function orderedConfig({ config }: LoadedConfig): JsonObject {
  const ordered: JsonObject = {};
  for (const { path, steps } of TOP_FIELDS) {
    const value = valueAt(config as unknown as JsonObject, steps);
    if (value !== undefined) setValueAt(ordered, steps, SECRETS.includes(path) ? struckOut(value) : value);
  }
  return ordered;
}

function struckOut(value: Json): Json {
  if (Array.isArray(value)) return value.map(() => '***');
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, struckOut(v)])) : '***';
}

export interface EffectiveValue {
  path: string;
  value: Json;
  /** `default`, `file:<path>`, `drop-in:<path>` or `flag:--<name>`. */
  origin: string;
}

/** One entry a value; the keys of a map each have their own, a list is one value. */
export function effectiveValues(loaded: LoadedConfig): EffectiveValue[] {
  const values: EffectiveValue[] = [];
  const walk = (value: Json, path: string): void => {
    if (isObject(value) && Object.keys(value).length)
      for (const [key, child] of Object.entries(value)) walk(child, joinPath(path, key));
    else values.push({ path, value, origin: originOf(loaded.origins, path) });
  };
  for (const [key, value] of Object.entries(orderedConfig(loaded))) walk(value, key);
  return values;
}
