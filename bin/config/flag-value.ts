import { acceptedNumbers } from './bounds.ts';
import { DURATION_FORM, formatDuration, parseDuration } from './duration.ts';
import { quantityOf } from './decode.ts';
import { INSPECT_ADDRESS_FORM, inspectAddress } from './inspect-address.ts';
import type { Json, JsonObject } from './schema.ts';
import type { FlagRow } from './tables.types.ts';

/** A flag's value as the configuration has it, or what would have been accepted. */
export type FlagValue = { value: Json } | { accepted: string };

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False'];
const MAP_FORM = 'key=value pairs with commas between them';

/**
 * The value of a flag that was given once or more. A scalar takes the last text; lists and maps gather all of them
 * (staging/src/k8s.io/component-base/cli/flag has the syntaxes; cmd/kubelet/app/options for taints and reserved memory).
 */
export function flagValue(row: FlagRow, texts: readonly string[]): FlagValue {
  const last = texts.at(-1) ?? '';
  switch (row.type) {
    case 'bool':
      if (TRUE.includes(last)) return { value: true };
      return FALSE.includes(last) ? { value: false } : { accepted: 'a bool: accepted are true and false' };
    case 'int':
    case 'int32':
      return integer(row, last, 2 ** 31);
    case 'int64':
      return integer(row, last, 2 ** 53);
    case 'Level':
      return integer(row, last, 2 ** 31);
    case 'duration': {
      const nanoseconds = parseDuration(last);
      return nanoseconds === undefined
        ? { accepted: `a duration: accepted is ${DURATION_FORM}` }
        : { value: formatDuration(nanoseconds) };
    }
    case 'quantity':
      return quantityOf(last) === undefined
        ? { accepted: 'a quantity: accepted is text such as 64Ki' }
        : { value: last };
    case 'strings':
      return { value: texts.flatMap((text) => (text === '' ? [] : text.split(',').map((s) => s.trim()))) };
    case 'mapStringString':
      return pairs(texts, row.name.startsWith('eviction-hard') || row.name === 'eviction-soft' ? '<' : '=', (s) => s);
    case 'mapStringBool':
      return pairs(texts, '=', (s) => (TRUE.includes(s) ? true : FALSE.includes(s) ? false : undefined));
    case 'colonSeparatedMultimapStringString':
      return headers(texts);
    case 'pattern=N':
      return modules(texts);
    case 'address':
      return inspectAddress(last) ? { value: last } : { accepted: INSPECT_ADDRESS_FORM };
    case '[]v1.Taint':
      return taints(texts);
    case 'reserved-memory':
      return reservedMemory(texts);
    default:
      return { value: last };
  }
}

function integer({ field }: FlagRow, text: string, limit: number): FlagValue {
  const number = /^[+-]?(\d+|0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/.test(text)
    ? Number(text.replace(/^[+-]/, '')) * (text.startsWith('-') ? -1 : 1)
    : NaN;
  return Number.isInteger(number) && number >= -limit && number < limit
    ? { value: number === 0 ? 0 : number }
    : { accepted: `a whole number: accepted are ${field ? acceptedNumbers(field) : `${-limit} to ${limit - 1}`}` };
}

function pairs(texts: readonly string[], mark: '=' | '<', read: (text: string) => Json | undefined): FlagValue {
  const map: JsonObject = {};
  const form =
    mark === '<' ? 'signal<quantity pairs with commas between them, such as memory.available<100Mi' : MAP_FORM;
  for (const pair of texts.flatMap((text) => text.split(',')).filter((p) => p.trim())) {
    const at = pair.indexOf(mark);
    const value = at < 1 ? undefined : read(pair.slice(at + 1).trim());
    if (value === undefined)
      return {
        accepted: `a map: accepted are ${form}${mark === '=' && read('?') === undefined ? ', true or false each' : ''}`,
      };
    map[pair.slice(0, at).trim()] = value;
  }
  return { value: map };
}

function headers(texts: readonly string[]): FlagValue {
  const map: Record<string, string[]> = {};
  for (const pair of texts.flatMap((text) => text.split(',')).filter((p) => p.trim())) {
    const at = pair.indexOf(':');
    if (at < 1) return { accepted: 'a map: accepted are name:value pairs with commas between them' };
    (map[pair.slice(0, at).trim()] ??= []).push(pair.slice(at + 1).trim());
  }
  return { value: map };
}

function modules(texts: readonly string[]): FlagValue {
  const list: Json[] = [];
  for (const pair of texts.flatMap((text) => text.split(',')).filter((p) => p.trim())) {
    const [, filePattern = '', level = ''] = /^\s*([^=,]+)=(\d+)\s*$/.exec(pair) ?? [];
    if (!filePattern) return { accepted: 'a list: accepted are pattern=N pairs with commas between them' };
    list.push({ filePattern, verbosity: Number(level) });
  }
  return { value: list };
}

function taints(texts: readonly string[]): FlagValue {
  const list: Json[] = [];
  for (const text of texts.flatMap((t) => t.split(',')).filter((t) => t.trim())) {
    const [, key = '', value = '', effect = ''] = /^\s*([^=:]+)(?:=([^:]*))?:(\w+)\s*$/.exec(text) ?? [];
    if (!key)
      return { accepted: 'a list of taints: accepted are key=value:Effect or key:Effect with commas between them' };
    list.push(value ? { key, value, effect } : { key, effect });
  }
  return { value: list };
}

function reservedMemory(texts: readonly string[]): FlagValue {
  const list: Json[] = [];
  for (const text of texts.flatMap((t) => t.split(';')).filter((t) => t.trim())) {
    const [, node = '', rest = ''] = /^\s*(\d+):(.+)$/.exec(text) ?? [];
    const limits = pairs([rest], '=', (s) => (quantityOf(s) === undefined ? undefined : s));
    if (!node || !('value' in limits))
      return {
        accepted: 'reserved memory: accepted is numaNode:type=quantity,… with ; between nodes, such as 0:memory=1Gi',
      };
    list.push({ numaNode: Number(node), limits: limits.value });
  }
  return { value: list };
}
