/** What one field of an object may hold. Shapes are the Kubernetes API's; `refused` is known but not supported. */
export type Field =
  | { is: 'string'; values?: readonly string[] }
  | { is: 'integer'; min: number; max: number }
  /** `only`: the other value asks for what is not supported. */
  | { is: 'boolean'; only?: boolean }
  | { is: 'quantity' }
  /** A port's number, or the name of one of the container's ports. */
  | { is: 'portOrName' }
  | { is: 'list'; of: Field }
  | { is: 'map'; of: Field }
  | { is: 'object'; fields: Readonly<Record<string, Field>>; required: readonly string[] }
  /** Without effect on a node, so its content is left alone. */
  | { is: 'unread' }
  /** `evenEmpty`: an empty list, map or text would ask for something too. */
  | { is: 'refused'; reason: string; evenEmpty: boolean };

const INT32_MAX = 2 ** 31 - 1;
export const MAX_PORT = 65_535;

export const string: Field = { is: 'string' };
export const boolean: Field = { is: 'boolean' };
export const quantity: Field = { is: 'quantity' };
export const unread: Field = { is: 'unread' };
export const portOrName: Field = { is: 'portOrName' };
export const port: Field = { is: 'integer', min: 1, max: MAX_PORT };
export const optionalPort: Field = { is: 'integer', min: 0, max: MAX_PORT };
export const strings: Field = { is: 'list', of: string };
export const stringMap: Field = { is: 'map', of: string };
/** User and group ids. */
export const id: Field = { is: 'integer', min: 0, max: INT32_MAX };
export const notYet: Field = { is: 'refused', reason: 'not supported yet', evenEmpty: false };
/** As notYet, for fields whose mere presence asks for something: a volume's source. */
export const notEvenEmpty: Field = { is: 'refused', reason: 'not supported yet', evenEmpty: true };

export function only(value: boolean): Field {
  return { is: 'boolean', only: value };
}

export function oneOf(...values: string[]): Field {
  return { is: 'string', values };
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Field {
  return { is: 'integer', min, max };
}

export function listOf(of: Field): Field {
  return { is: 'list', of };
}

export function object(fields: Record<string, Field>, ...required: string[]): Field & { is: 'object' } {
  return { is: 'object', fields, required };
}

/** The same field for each of many names. */
export function each(field: Field, names: string): Record<string, Field> {
  return Object.fromEntries(names.split(' ').map((name) => [name, field]));
}
