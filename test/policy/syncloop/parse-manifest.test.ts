import { describe, expect, test } from '@jest/globals';
import { parseManifest } from '../../../machines/syncloop/policy/parse-manifest.ts';

const repeated = (line: number) => ({ ok: false, problem: `line ${line}: the same key is written twice in one map` });

describe('a key that is written twice in one map is a problem of its line', () => {
  test.each<[string, number]>([
    ['{"a": 1,\n"a": 2}', 2],
    ['{"a": 1,\n"\\u0061": 2}', 2],
    ['{"a": {"b": [{"c": 1},\n{"c": 1, "c": 2}]}}', 2],
    ['{"a": "}",\n\n"b": "\\"{", "a": 1}', 3],
    ['{"a\\\\": 1, "b": "\\\\\\"", "a\\\\": 2}', 1],
    ['{"__proto__": 1, "__proto__": 2}', 1],
    ['a: 1\na: 2', 2],
    ['a:\n- b: {c: 1}\n- b: {c: 1,\n   c: 2}', 4],
    ['a: 1\n"a": 2', 2],
  ])('%j', (text, line) => expect(parseManifest(text)).toEqual(repeated(line)));

  test.each<[string, unknown]>([
    ['{"a": ["a", "a"], "b": {"a": "a,\\"a\\":"}}', { a: ['a', 'a'], b: { a: 'a,"a":' } }],
    ['a: [a, a]\nb: {a: a}', { a: ['a', 'a'], b: { a: 'a' } }],
    ['a: &x {b: 1}\nc: {<<: *x, b: 2}', { a: { b: 1 }, c: { b: 2 } }],
  ])('and not one that stands in two: %j', (text, value) => expect(parseManifest(text)).toEqual({ ok: true, value }));
});

test('YAML, which is slow to parse, may have 1 MiB; JSON may have more', () => {
  const value = { text: 'x'.repeat(1024 * 1024) };
  expect(parseManifest(JSON.stringify(value))).toEqual({ ok: true, value });
  expect(parseManifest(`text: ${value.text}`)).toEqual({
    ok: false,
    problem: 'is larger than 1 MiB, which YAML may have at most; JSON may have 10 MiB',
  });
});

test('a map of ten thousand keys is read', () => {
  const keys = Array.from({ length: 10_000 }, (_, i) => `key${i}`);
  const value = Object.fromEntries(keys.map((key) => [key, 1]));
  expect(parseManifest(keys.map((key) => `${key}: 1`).join('\n'))).toEqual({ ok: true, value });
  expect(parseManifest(JSON.stringify(value))).toEqual({ ok: true, value });
});
