import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../support/import-graph.ts';

const page = readFileSync(join(ROOT, 'docs/while-we-were-down.md'), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (what changed|-+) +\|/.test(line));
const shownBy = (row: string) =>
  [...row.matchAll(/`(test\/[^`]+)`: "([^"]+)"/g)].map(([, file = '', title = '']) => ({ file, title }));

test('every assumption of docs/while-we-were-down.md names its test', () => {
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => shownBy(row).length === 0)).toEqual([]);
});

test('every test that it names is there', () => {
  const missing = rows.flatMap(shownBy).filter(({ file, title }) => {
    const path = join(ROOT, file);
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(title);
  });
  expect(missing).toEqual([]);
});
