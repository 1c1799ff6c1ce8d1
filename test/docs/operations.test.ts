import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readSources, ROOT } from '../support/import-graph.ts';

const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
const code = [...readSources(['bin', 'machines', 'services']).values()].map(({ text }) => text);

test('what docs/operations.md has the agent say, is in the code', () => {
  const rows = page
    .slice(page.indexOf('## Troubleshooting'))
    .split('\n')
    .filter((line) => /^\| [^-]/.test(line) && !line.startsWith('| what you see'));
  expect(rows.length).toBeGreaterThan(20);
  const said = rows.flatMap((row) =>
    [...(row.split(' | ')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
  );
  const pieces = said.flatMap((text) => text.split('…')).map((text) => text.trim());
  expect(pieces.filter((piece) => piece && !code.some((text) => text.includes(piece)))).toEqual([]);
});
