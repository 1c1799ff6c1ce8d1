import { stringify, Document, isMap, isPair, isScalar, visit } from 'yaml';
import { effectiveValues, orderedConfig } from './effective.ts';
import { loadConfig } from './load-config.ts';
import { originOf } from './merge.ts';
import { joinPath } from './schema.ts';
import { ConfigError, shown } from './problem.ts';

/**
 * The text of `statelet config`.
 * @param argv flags of `statelet run`, `--output yaml|json|table` and `--origin`
 * @param warn takes each warning
 * @throws ConfigError
 */
export function printConfig(argv: readonly string[], warn: (line: string) => void): string {
  const own = ownFlags(argv);
  const loaded = loadConfig({ argv: own.rest });
  for (const warning of loaded.warnings) warn(warning);
  switch (own.output) {
    case 'json':
      return `${JSON.stringify(own.origin ? effectiveValues(loaded) : orderedConfig(loaded), null, 2)}\n`;
    case 'table': {
      const rows = effectiveValues(loaded).map((v) => [v.path, JSON.stringify(v.value), v.origin] as const);
      return table([['FIELD', 'VALUE', 'ORIGIN'], ...rows]);
    }
    default: {
      if (!own.origin) return stringify(orderedConfig(loaded));
      const document = new Document(orderedConfig(loaded));
      commentOrigins(document, (path) => originOf(loaded.origins, path));
      return document.toString({ lineWidth: 0 });
    }
  }
}

function ownFlags(argv: readonly string[]): { output: string; origin: boolean; rest: string[] } {
  const own = { output: 'yaml', origin: false, rest: [] as string[] };
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    const [, value] = /^--output(?:=(.*))?$/.exec(word) ? [null, word.includes('=') ? word.slice(9) : argv[++i]] : [];
    if (/^--output(=|$)/.test(word)) own.output = value ?? '';
    else if (word === '--origin') own.origin = true;
    else own.rest.push(word);
  }
  if (!['yaml', 'json', 'table'].includes(own.output))
    throw new ConfigError([
      { origin: '--output', path: '', message: `${shown(own.output)} is not accepted: accepted are yaml, json, table` },
    ]);
  return own;
}

/** Puts the origin behind every value, as a comment. */
function commentOrigins(document: Document, origin: (path: string) => string): void {
  visit(document, {
    Pair: (_, pair, ancestors) => {
      if (isMap(pair.value) && pair.value.items.length) return;
      const keys = [...ancestors, pair]
        .filter((node) => isPair(node))
        .map((p) => String(isScalar(p.key) ? p.key.value : p.key));
      const comment = ` ${origin(keys.reduce((path, key) => joinPath(path, key), ''))}`;
      if (isScalar(pair.value)) pair.value.comment = comment;
      else if (isScalar(pair.key)) pair.key.comment = comment;
      return visit.SKIP;
    },
  });
}

function table(rows: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(...rows.map((row) => (row[column] ?? '').length));
  const [first, second] = [width(0), Math.min(width(1), 60)];
  return rows.map(([a = '', b = '', c = '']) => `${a.padEnd(first)}  ${b.padEnd(second)}  ${c}\n`).join('');
}
