import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readSources, ROOT } from '../support/import-graph.ts';

/** The embedded runtime's reasons are a runtime's, and the protocol's comments are nobody's. */
const sources = [...readSources(['machines', 'services', 'bin']).values()].filter(
  ({ path }) => !/^services\/cri\/(embedded|proto)\//.test(path),
);

/** Every way in which the code writes a reason that users or logs see. */
const WRITTEN = [
  /\breason: ?'([A-Z]\w+)'/g,
  /\breason = '([A-Z]\w+)'/g,
  /\breason: [^,'\n]*\? '([A-Z]\w+)'/g,
  /\breason: [^,'\n]*\? '[A-Z]\w+' : '([A-Z]\w+)'/g,
  /\breason: [^,'\n]*\?\? '([A-Z]\w+)'/g,
  /\b(?:failed|failedWith)\('([A-Z]\w+)'/g,
  /\brecord\(\w+, '(?:Normal|Warning)', '([A-Z]\w+)'/g,
  /\bwait\(\w+, '([A-Z]\w+)'/g,
  /\bevent: '([A-Z]\w+)'/g,
  /\bstopped\(op, '([A-Z]\w+)'/g,
  /\bCONFIG_ERROR = '([A-Z]\w+)'/g,
  /\? '(NameReserved)'/g,
];
const LISTS = /\b(?:WAITING|PULL)_REASONS = \[([^\]]*)\]/g;

const inCode = new Set(
  sources.flatMap(({ text }) => [
    ...WRITTEN.flatMap((pattern) => [...text.matchAll(pattern)].map(([, reason]) => reason)),
    ...[...text.matchAll(LISTS)].flatMap(([, list = '']) => [...list.matchAll(/'(\w+)'/g)].map(([, reason]) => reason)),
  ]),
);

const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
const onPage = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, reason]) => reason);

describe('docs/errors.md', () => {
  test('has every reason that the code writes', () => {
    expect([...inCode].filter((reason) => !onPage.includes(reason)).sort()).toEqual([]);
  });

  test('has no reason that the code does not write', () => {
    expect(onPage.filter((reason) => !inCode.has(reason)).sort()).toEqual([]);
  });

  test('says of each reason what it means and what to do', () => {
    const rows = [...page.matchAll(/^\| `\w+`.*$/gm)].map(([row]) => row.split('|').map((cell) => cell.trim()));
    expect(rows.filter((cells) => cells.slice(1, -1).some((cell) => cell === ''))).toEqual([]);
  });
});
