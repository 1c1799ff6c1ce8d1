import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

const text = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

const facts = text('facts/field-cases.tsv')
  .split('\n')
  .filter((line) => /^B\d{3}\t/.test(line))
  .map((line) => line.split('\t'));

/** Pieces of work that cases may be left to. */
const LATER = [
  'cluster: API server',
  'probes and hooks',
  'volumes',
  'HTTP API: logs and exec',
  'eviction',
  'DNS and hosts',
  'certificates',
  'resources and resize',
  'see-through',
];

const rows = text('cases.md')
  .split('\n')
  .filter((line) => line.startsWith('| B'))
  .map((line) => {
    const [, id = '', area = '', title = '', covered = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const files = [...covered.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    return { id, area, title: title.replaceAll('\\|', '|'), covered, files };
  });

test('every field case is listed once, with its area and title', () => {
  expect(rows.map(({ id, area, title }) => [id, area, title])).toEqual(
    facts.map(([id, area, title]) => [id, area, title]),
  );
});

test('a case without a test names the piece of work that will cover it', () => {
  const open = rows.filter(({ files }) => files.length === 0).map(({ covered }) => covered.replace('later: ', ''));
  expect(open.filter((work) => !LATER.includes(work))).toEqual([]);
});

describe('a case that names a test', () => {
  const covered = rows.filter(({ files }) => files.length > 0).map(({ id, files }) => [id, files] as const);
  test.each(covered)('%s is found by its id', (id, files) => {
    // The id stands at the beginning of a test's or group's name, maybe after other ids.
    const named = new RegExp(`['"\`](B\\d{3} )*${id} `);
    expect(files.filter((file) => !named.test(text(file)))).toEqual([]);
  });
});
