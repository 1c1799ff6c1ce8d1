import { parseQuantity } from '../../machines/pod/policy/quantity.ts';
import { acceptedNumbers, INTEGERS } from './bounds.ts';
import { DURATION_FORM, formatDuration, parseDuration } from './duration.ts';
import { shown } from './problem.ts';
import { isObject, joinPath, type Json, type JsonObject, type Schema } from './schema.ts';

/** A finding of decoding, by path below the file. */
export interface Finding {
  path: string;
  message: string;
}

/** A field that the schema does not have. */
export interface Unknown {
  path: string;
  /** The field of this object that was probably meant. */
  near?: string;
  /** The fields that this object has. */
  accepted: readonly string[];
}

/** Headers may carry a token. */
const SECRET = /^staticPodURLHeader/;

export interface Decoded {
  /** Only known fields, each of its type; durations in Go's own form. `null` stays: it says "not set". */
  value: JsonObject;
  wrong: Finding[];
  unknown: Unknown[];
}

/**
 * Checks a parsed document against the schema. Names of fields are compared with case, as the kubelet's decoder does
 * (cmd/kubelet/app/server.go:loadConfigFile; staging/src/k8s.io/kubelet/config/v1beta1/types.go has the types).
 */
export function decode(document: JsonObject, schema: Schema): Decoded {
  const decoded: Decoded = { value: {}, wrong: [], unknown: [] };
  const value = decodeValue(document, schema, '', decoded);
  if (isObject(value)) decoded.value = value;
  return decoded;
}

function decodeValue(value: Json, schema: Schema, path: string, out: Decoded): Json | undefined {
  if (value === null) return null;
  const wrong = (accepted: string) =>
    void out.wrong.push({ path, message: `${SECRET.test(path) ? 'the value' : shown(value)} is not ${accepted}` });
  switch (schema.kind) {
    case 'object': {
      if (!isObject(value)) return wrong(`an object: accepted are its fields ${[...schema.fields.keys()].join(', ')}`);
      const object: JsonObject = {};
      for (const [key, child] of Object.entries(value)) {
        const field = schema.fields.get(key);
        const at = joinPath(path, key);
        if (!field) out.unknown.push(unknownField(at, key, [...schema.fields.keys()]));
        else set(object, key, decodeValue(child, field, at, out));
      }
      return object;
    }
    case 'map': {
      if (!isObject(value)) return wrong(`an object: accepted are ${plural(schema.of)} by name`);
      const map: JsonObject = {};
      for (const [key, child] of Object.entries(value))
        set(map, key, decodeValue(child, schema.of, joinPath(path, key), out));
      return map;
    }
    case 'list': {
      if (!Array.isArray(value)) return wrong(`a list: accepted is a list of ${plural(schema.of)}`);
      return value.map((item, i) => decodeValue(item, schema.of, joinPath(path, i), out) ?? null);
    }
    case 'scalar': {
      const result = scalar(value, schema.type, path);
      return 'value' in result ? result.value : wrong(result.accepted);
    }
  }
}

function set(object: JsonObject, key: string, value: Json | undefined): void {
  if (value !== undefined)
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

function plural(schema: Schema): string {
  return schema.kind === 'scalar' ? `${schema.type} values` : schema.kind === 'list' ? 'lists' : 'objects';
}

/** A scalar of the table's type, or what would have been accepted. */
function scalar(value: Json, type: string, path: string): { value: Json } | { accepted: string } {
  const bounds = INTEGERS[type];
  if (bounds) {
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= bounds[0] && value <= bounds[1];
    return fits ? { value } : { accepted: `an ${type}: accepted are whole numbers, ${acceptedNumbers(path, type)}` };
  }
  switch (type) {
    case 'bool':
      return typeof value === 'boolean' ? { value } : { accepted: 'a bool: accepted are true and false' };
    case 'float64':
      return typeof value === 'number' && Number.isFinite(value) ? { value } : { accepted: 'a number' };
    case 'duration|int64 nanoseconds':
      if (typeof value === 'number' && Number.isSafeInteger(value)) return { value: formatDuration(BigInt(value)) };
      return duration(value);
    case 'duration':
      return duration(value);
    case 'quantity':
      return quantity(value);
    case 'time':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value))
        ? { value }
        : { accepted: 'a time: accepted is RFC 3339 such as "2026-01-02T15:04:05Z"' };
    default:
      return typeof value === 'string' ? { value } : { accepted: 'a string: accepted is text (put it in quotes)' };
  }
}

function duration(value: Json): { value: Json } | { accepted: string } {
  const nanoseconds = typeof value === 'string' ? parseDuration(value) : undefined;
  return nanoseconds === undefined
    ? { accepted: `a duration: accepted is ${DURATION_FORM}` }
    : { value: formatDuration(nanoseconds) };
}

function quantity(value: Json): { value: Json } | { accepted: string } {
  const accepted = 'a quantity: accepted are a number with n, u, m, k, M, G, T, Ki, Mi, Gi … or an exponent';
  if (typeof value !== 'string' && typeof value !== 'number') return { accepted };
  return quantityOf(value) === undefined ? { accepted } : { value: String(value) };
}

/** A quantity in billionths; undefined where it is none. */
export function quantityOf(value: string | number): bigint | undefined {
  try {
    return parseQuantity(value);
  } catch (error) {
    if (error instanceof Error && error.name === 'QuantityError') return undefined;
    throw error;
  }
}

function unknownField(path: string, key: string, accepted: readonly string[]): Unknown {
  return { path, near: accepted.find((name) => name.toLowerCase() === key.toLowerCase()), accepted };
}
