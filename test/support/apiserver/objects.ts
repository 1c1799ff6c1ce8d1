import type { ObjectMeta } from '../../../machines/kubernetes.types.ts';

/** Any object of the API as it stands on the wire. What the store holds is never written to: changes are made on copies. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

export type Dict = Record<string, unknown>;

export const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value below a dotted path, or undefined where nothing is. */
export function at(object: unknown, path: string): unknown {
  let value = object;
  for (const key of path.split('.')) value = isDict(value) ? value[key] : undefined;
  return value;
}

/** A dictionary at `key`, made where there is none. */
export function dictAt(object: Dict, key: string): Dict {
  const found = object[key];
  if (isDict(found)) return found;
  return (object[key] = {});
}

/** The list of dictionaries below a dotted path; empty where there is none. */
export function listAt(object: unknown, path: string): Dict[] {
  const found = at(object, path);
  return Array.isArray(found) ? found.filter(isDict) : [];
}

/** A string below a dotted path, or ''. */
export function textAt(object: unknown, path: string): string {
  const found = at(object, path);
  return typeof found === 'string' ? found : '';
}

/** JSON equality that does not mind the order of keys. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((v, i) => same(v, b[i]));
  if (!isDict(a) || !isDict(b)) return false;
  const keys = Object.keys(a).filter((k) => a[k] !== undefined);
  return keys.length === Object.keys(b).filter((k) => b[k] !== undefined).length && keys.every((k) => same(a[k], b[k]));
}

/** `metav1.Time`: RFC 3339, whole seconds, UTC. */
export const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
