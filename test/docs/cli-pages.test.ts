import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { cliPages } from '../../scripts/docs-cli.ts';
import { ROOT } from '../support/import-graph.ts';

test.each([...(await cliPages())])('%s is fresh (node scripts/docs-cli.ts)', (path, text) => {
  expect(readFileSync(join(ROOT, path), 'utf8')).toBe(text);
});
