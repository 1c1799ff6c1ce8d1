import ts from 'typescript';

/** What begins a test; the last two are left out on other people's control planes and runtimes. */
const TESTS = new Set(['test', 'it', 'testOnDouble', 'testOnPrivate']);

/** Words after it that leave it a test that runs. */
const RUNS = new Set(['each', 'concurrent', 'only']);

/**
 * Titles of the tests that a source runs, and of the groups that hold such tests, as far as they are written out: of a title
 * with values in it the words before the first one, and of a table's rows those that stand in place of a `%s` at the beginning.
 * Not those of tests and groups that are left out (`skip`, `todo`, `failing`, `xtest`), nor what stands in comments and strings.
 */
export function testTitles(text: string, file = 'a.test.ts'): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const titles: string[] = [];
  /** Whether it holds a test that runs. */
  const visit = (node: ts.Node): boolean => {
    const call = ts.isCallExpression(node) ? begun(node) : undefined;
    if (call?.isLeftOut) return false;
    const body = ts.isCallExpression(node) ? node.arguments[1] : undefined;
    if (call?.isTest) {
      const isWritten = body !== undefined && (ts.isIdentifier(body) || isFunctionWithBody(body));
      if (isWritten) titles.push(...call.titles);
      return isWritten;
    }
    let holds = false;
    ts.forEachChild(node, (child) => {
      holds = visit(child) || holds;
    });
    if (call && holds) titles.push(...call.titles);
    return holds;
  };
  visit(source);
  return titles;
}

const isFunctionWithBody = (node: ts.Node) =>
  (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) &&
  !(ts.isBlock(node.body) && node.body.statements.length === 0);

/** The test or group that a call begins: `test(…)`, `test.each(…)(…)`, `describe.skip(…)`, `xit(…)`, `describeKubectl(…)`. */
function begun(call: ts.CallExpression): { isTest: boolean; isLeftOut: boolean; titles: string[] } | undefined {
  const table = ts.isCallExpression(call.expression) ? call.expression : undefined;
  const words: string[] = [];
  let callee = bare(table?.expression ?? call.expression);
  // Where a machine decides, it is a test if it is one anywhere: `(isRoot ? test : test.skip)(…)`.
  if (ts.isConditionalExpression(callee)) callee = [callee.whenTrue, callee.whenFalse].find(ts.isIdentifier) ?? callee;
  for (; ts.isPropertyAccessExpression(callee); callee = callee.expression) words.push(callee.name.text);
  if (!ts.isIdentifier(callee)) return undefined;
  const [, x = '', name = ''] = /^([xf]?)(.+)$/.exec(callee.text) ?? [];
  const base = TESTS.has(callee.text) || callee.text.startsWith('describe') ? callee.text : name;
  const isTest = TESTS.has(base);
  if (!isTest && !base.startsWith('describe')) return undefined;
  // `test.each(…)` alone is the half of a call.
  if (!table && words.includes('each')) return undefined;
  const isLeftOut = (base !== callee.text && x === 'x') || words.some((word) => !RUNS.has(word));
  const [title] = call.arguments;
  return { isTest, isLeftOut, titles: title ? named(title, table?.arguments[0]) : [] };
}

function named(title: ts.Expression, table?: ts.Expression): string[] {
  const words = beginning(title);
  if (!words?.startsWith('%s') || !table) return words === undefined ? [] : [words];
  return rowsOf(table).flatMap((row) => {
    const cells = bare(row);
    const first = ts.isArrayLiteralExpression(cells) ? cells.elements[0] : cells;
    const cell = first && beginning(first);
    return cell === undefined ? [] : [cell + words.slice(2)];
  });
}

/** The words that an expression begins with, where they are written out. */
function beginning(expression: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(expression)) return expression.text;
  return ts.isTemplateExpression(expression) ? expression.head.text : undefined;
}

/** The rows of a table that is written out, in its place or as a constant of the same source. */
function rowsOf(table: ts.Expression): readonly ts.Expression[] {
  const written = bare(table);
  if (ts.isArrayLiteralExpression(written)) return written.elements;
  if (!ts.isIdentifier(written)) return [];
  const rows: ts.Expression[] = [];
  const find = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === written.text && node.initializer) {
      const value = bare(node.initializer);
      if (ts.isArrayLiteralExpression(value)) rows.push(...value.elements);
    }
    ts.forEachChild(node, find);
  };
  find(table.getSourceFile());
  return rows;
}

/** Without `as const`, `satisfies …` and brackets. */
function bare(expression: ts.Expression): ts.Expression {
  if (ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression) || ts.isParenthesizedExpression(expression))
    return bare(expression.expression);
  return expression;
}
