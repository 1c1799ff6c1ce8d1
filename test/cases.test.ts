import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testTitles } from './support/test-titles.ts';

const text = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

const facts = text('facts/field-cases.tsv')
  .split('\n')
  .filter((line) => /^B\d{3}\t/.test(line))
  .map((line) => line.split('\t'));

/** Pieces of work that cases may be left to. */
const LATER = [
  'cluster: API server',
  'hooks, cost of probes',
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
  const titles = new Map<string, string[]>();
  for (const file of new Set(covered.flatMap(([, files]) => files))) titles.set(file, testTitles(text(file), file));

  test.each(covered)('%s is found by its id', (id, files) => {
    // The id stands at the beginning of the title of a test that runs, or of a group of such, maybe after other ids.
    const named = new RegExp(`^(B\\d{3} )*${id} `);
    expect(files.filter((file) => !titles.get(file)?.some((title) => named.test(title)))).toEqual([]);
  });

  test('every file of them is one that jest runs, or that such a file imports', () => {
    const here = fileURLToPath(new URL('.', import.meta.url));
    const run = readdirSync(here, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
    const imported = run.map((file) => text(file).match(/from '\..*'/g) ?? []).flat();
    const isRun = (file: string) => run.includes(file) || imported.some((line) => line.endsWith(`/${basename(file)}'`));
    expect([...titles.keys()].filter((file) => !isRun(file))).toEqual([]);
  });
});
