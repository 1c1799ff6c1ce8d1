import { parseQuantity, QuantityError } from '../../pod/policy/quantity.ts';
import { MAX_PORT, type Field } from './field-schema.ts';
import { PORT_NAME } from './port-name.ts';

/** Decoded JSON or YAML. */
export type Plain = string | number | boolean | null | undefined | Plain[] | { [key: string]: Plain };
export type PlainObject = { [key: string]: Plain };

/** More are of no help to anybody. */
const MAX_PROBLEMS = 20;

/**
 * Every way in which a value is not what its field may hold: unknown and unsupported fields, wrong types, values that
 * are not accepted, missing ones; each with its field's path. Values of free text are never shown: they may be secret.
 *
 * @param path of the value, empty for the whole
 */
export function fieldProblems(value: Plain, field: Field, path = ''): string[] {
  const problems: string[] = [];
  check(value, field, path, problems);
  return problems.slice(0, MAX_PROBLEMS);
}

function check(value: Plain, field: Field, path: string, problems: string[]): void {
  const wrong = (expected: string) =>
    problems.push(`${path || 'the manifest'}: must be ${expected}, not ${typeName(value)}`);
  if (value === undefined || problems.length >= MAX_PROBLEMS) return;
  switch (field.is) {
    case 'unread':
      return;
    case 'refused':
      if (field.evenEmpty || !isEmpty(value)) problems.push(`${path}: ${field.reason}`);
      return;
    case 'string':
      if (typeof value !== 'string') wrong('a string');
      else if (field.values && !field.values.includes(value)) problems.push(notOneOf(path, value, field.values));
      return;
    case 'boolean':
      if (typeof value !== 'boolean') wrong('true or false');
      else if (field.only !== undefined && value !== field.only)
        problems.push(`${path}: ${value} is not supported yet`);
      return;
    case 'integer':
      if (typeof value === 'number' && !Number.isInteger(value)) problems.push(`${path}: ${value} is no whole number`);
      else if (typeof value !== 'number') wrong('a whole number');
      else if (value < field.min || value > field.max)
        problems.push(`${path}: ${value} is out of range, accepted are ${field.min} to ${field.max}`);
      return;
    case 'portOrName':
      if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_PORT) return;
      if (typeof value !== 'string' || !PORT_NAME.test(value))
        problems.push(`${path}: must be a port from 1 to ${MAX_PORT} or the name of one of the container's ports`);
      return;
    case 'quantity':
      return checkQuantity(value, path, problems);
    case 'list':
      if (!Array.isArray(value)) return void wrong('a list');
      return value.forEach((item, index) => check(item ?? null, field.of, `${path}[${index}]`, problems));
    case 'map':
      if (!isObject(value)) return void wrong('a map');
      return Object.entries(value).forEach(([key, item]) => check(item, field.of, `${path}[${key}]`, problems));
    case 'object':
      if (!isObject(value)) return void wrong('a map of fields');
      return checkObject(value, field, path, problems);
  }
}

function checkObject(value: PlainObject, field: Field & { is: 'object' }, path: string, problems: string[]): void {
  const at = (name: string) => (path ? `${path}.${name}` : name);
  for (const [name, item] of Object.entries(value)) {
    const known = Object.hasOwn(field.fields, name) ? field.fields[name] : undefined;
    if (known) check(item, known, at(name), problems);
    else problems.push(`${at(name)}: unknown field, accepted are ${accepted(field)}`);
  }
  for (const name of field.required) if (value[name] === undefined) problems.push(`${at(name)}: is required`);
}

function checkQuantity(value: Plain, path: string, problems: string[]): void {
  if (typeof value !== 'string' && typeof value !== 'number') {
    problems.push(`${path}: must be a quantity such as 500m or 128Mi, not ${typeName(value)}`);
    return;
  }
  try {
    if (parseQuantity(value) < 0n) problems.push(`${path}: must not be negative`);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    problems.push(`${path}: ${error.message}`);
  }
}

function accepted(field: Field & { is: 'object' }): string {
  const names = Object.entries(field.fields).filter(([, { is }]) => is !== 'refused');
  return names.map(([name]) => name).join(', ');
}

function notOneOf(path: string, value: string, values: readonly string[]): string {
  const list = values.map((text) => (text === '' ? '""' : text)).join(', ');
  return `${path}: ${JSON.stringify(value.slice(0, 64))} is not accepted, accepted are ${list}`;
}

export function isObject(value: Plain): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An empty list, map or text asks for nothing. */
function isEmpty(value: Plain): boolean {
  if (value === null || value === undefined || value === '' || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function typeName(value: Plain): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return { string: 'a string', number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? typeof value;
}
