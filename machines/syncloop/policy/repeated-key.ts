import { isMap, isScalar, visit, type Document } from 'yaml';

/**
 * Where the first key stands that is written twice in one object of a text that is JSON; undefined where none is. It takes
 * time in proportion to the text, however many keys an object has.
 */
export function repeatedKeyOfJson(json: string): number | undefined {
  /** Of every object and list that is open: the keys so far; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let isKeyNext = false;
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at];
    if (char === '{' || char === '[') open.push(char === '{' ? new Set() : undefined);
    else if (char === '}' || char === ']') open.pop();
    if (char === '{' || char === ',') isKeyNext = open.at(-1) !== undefined;
    if (char !== '"') continue;
    const end = endOfString(json, at);
    if (isKeyNext) {
      const key = JSON.parse(json.slice(at, end + 1)) as string;
      const keys = open.at(-1);
      if (keys?.has(key)) return at;
      keys?.add(key);
    }
    isKeyNext = false;
    at = end;
  }
  return undefined;
}

/** The quote that ends a string: one before which an even number of backslashes stands. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end > 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return json.length;
}

/** The same of a YAML document; the parser's own check takes time by the square of a map's keys. */
export function repeatedKeyOfYaml(document: Document): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map(_key, map) {
      const keys = new Set<unknown>();
      for (const { key } of isMap(map) ? map.items : []) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}
