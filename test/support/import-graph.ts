import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

export const ROOT = resolve(import.meta.dirname, '../..');

export interface SourceFile {
  /** Relative to the checkout. */
  path: string;
  /** Files of the checkout that it imports, with the names taken (`*` for all). */
  imports: { path: string; names: string[] }[];
  /** Packages and node: modules that it imports. */
  packages: string[];
  exports: string[];
  text: string;
}

/** Every TypeScript file below the folders, with what it imports and exports. Generated code is left out. */
export function readSources(folders: readonly string[]): Map<string, SourceFile> {
  const files = new Map<string, SourceFile>();
  for (const folder of folders)
    for (const entry of readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile() && /\.(tsx?|js)$/.test(entry.name) && !/generated|node_modules/.test(entry.parentPath)) {
        const file = readSource(join(entry.parentPath, entry.name));
        files.set(file.path, file);
      }
  return files;
}

function readSource(absolute: string): SourceFile {
  const text = readFileSync(absolute, 'utf8');
  const source = ts.createSourceFile(absolute, text, ts.ScriptTarget.Latest, true);
  const file: SourceFile = { path: relative(ROOT, absolute), imports: [], packages: [], exports: [], text };
  const from = (specifier: string, names: string[]) => {
    if (specifier.startsWith('.'))
      file.imports.push({ path: relative(ROOT, resolve(dirname(absolute), specifier)), names });
    else file.packages.push(specifier);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const clause = node.importClause;
      const bindings = clause?.namedBindings;
      const names =
        bindings && ts.isNamedImports(bindings) ? bindings.elements.map((e) => (e.propertyName ?? e.name).text) : [];
      if (bindings && ts.isNamespaceImport(bindings)) names.push('*');
      if (clause?.name) names.push('default');
      from(node.moduleSpecifier.text, names);
    } else if (ts.isExportDeclaration(node)) {
      const names = node.exportClause && ts.isNamedExports(node.exportClause) ? node.exportClause.elements : [];
      if (node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier))
        from(node.moduleSpecifier.text, node.exportClause ? names.map((e) => (e.propertyName ?? e.name).text) : ['*']);
      file.exports.push(...names.map((e) => e.name.text));
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      if (argument && ts.isStringLiteral(argument)) from(argument.text, ['*']);
    } else if (ts.isExportAssignment(node)) file.exports.push('default');
    else if (ts.canHaveModifiers(node) && ts.getModifiers(node)?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword)) {
      const isDefault = ts.getModifiers(node)?.some((m) => m.kind === ts.SyntaxKind.DefaultKeyword);
      if (isDefault) file.exports.push('default');
      else if (ts.isVariableStatement(node))
        for (const d of node.declarationList.declarations) if (ts.isIdentifier(d.name)) file.exports.push(d.name.text);
      if (!isDefault && !ts.isVariableStatement(node)) {
        const { name } = node as unknown as { name?: ts.Identifier };
        if (name) file.exports.push(name.text);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return file;
}

/** Every cycle of imports, as the path that closes it; type-only imports count too. */
export function cycles(files: ReadonlyMap<string, SourceFile>): string[] {
  const found: string[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const visit = (path: string, trail: string[]): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') return void found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    state.set(path, 'open');
    for (const { path: next } of files.get(path)?.imports ?? []) if (files.has(next)) visit(next, [...trail, path]);
    state.set(path, 'done');
  };
  for (const path of files.keys()) visit(path, []);
  return found;
}
