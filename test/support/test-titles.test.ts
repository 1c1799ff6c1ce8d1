import { expect, test } from '@jest/globals';
import { testTitles } from './test-titles.ts';

const RUNS = '() => { expect(1).toBe(1); }';

test.each([
  ['a test', `test('B001 a', ${RUNS})`, ['B001 a']],
  ['it', `it("B001 a", async ${RUNS})`, ['B001 a']],
  ['a test of the double alone', `testOnDouble('B001 a', ${RUNS}, 5)`, ['B001 a']],
  ['one that needs root', `(isRoot ? test : test.skip)('B001 a', ${RUNS})`, ['B001 a']],
  ['one that is left out either way', `(isRoot ? test.todo : test.skip)('B001 a', ${RUNS})`, []],
  ['one in a loop, with values in its title', `for (const n of [1]) test(\`B001 a \${n} b\`, ${RUNS})`, ['B001 a ']],
  ['the rows of a table', `test.each([['B001 a', 1], ['B002 b', 2]] as const)('%s', ${RUNS})`, ['B001 a', 'B002 b']],
  ['the rows of a constant', `const rows = ['B001 a']; test.each(rows)('%s: so', ${RUNS})`, ['B001 a: so']],
  ['a table with a title', `test.each([[1], [2]])('B001 %i', ${RUNS})`, ['B001 %i']],
  ['a group of tests', `describe('B001 a', () => { test('b', ${RUNS}) })`, ['b', 'B001 a']],
  ['a group without tests', "describe('B001 a', () => { helps() })", []],
  ['a group of tests that are left out', `describe('B001 a', () => { test.skip('b', ${RUNS}) })`, []],
  ['a group that is left out', `describe.skip('B001 a', () => { test('B002 b', ${RUNS}) })`, []],
  ['xdescribe', `xdescribe('B001 a', () => { test('B002 b', ${RUNS}) })`, []],
  ['test.skip', `test.skip('B001 a', ${RUNS})`, []],
  ['test.skip.each', `test.skip.each([['B001 a']])('%s', ${RUNS})`, []],
  ['test.failing', `test.failing('B001 a', ${RUNS})`, []],
  ['test.todo', "test.todo('B001 a')", []],
  ['xtest', `xtest('B001 a', ${RUNS})`, []],
  ['xit', `xit('B001 a', ${RUNS})`, []],
  ['a test without a body', "test('B001 a', () => {})", []],
  ['a string', "const text = 'B001 a'; helps('B001 a')", []],
  ['a comment', `// test('B001 a', ${RUNS})`, []],
  ['a string that has a test', `helps("test('B001 a', ${RUNS})")`, []],
])('%s', (_, text, titles) => {
  expect(testTitles(text)).toEqual(titles);
});
