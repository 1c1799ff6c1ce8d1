import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { configData } from '../../scripts/config-data.ts';
import { ROOT } from '../support/import-graph.ts';

test.each([...(await configData())])('%s is fresh (node scripts/config-data.ts)', (path, text) => {
  expect(readFileSync(join(ROOT, path), 'utf8')).toBe(text);
});
