import { FLAGS } from './data/flags.ts';
import { DEFAULT_INSPECT_ADDRESS } from './inspect-address.ts';
import type { Problem } from './problem.ts';
import type { FlagRow } from './tables.types.ts';

/** Flags of this agent's own. */
const OWN_FLAGS: readonly FlagRow[] = [
  { name: 'strict-config', type: 'bool', default: false, group: 'statelet' },
  { name: 'quickstart', type: 'bool', default: false, group: 'statelet' },
  { name: 'container-logs-dir', type: 'string', default: '/var/log/containers', group: 'statelet' },
  { name: 'log-format', type: 'string', default: 'text', field: 'logging.format', group: 'statelet' },
  { name: 'inspect', type: 'address', bare: DEFAULT_INSPECT_ADDRESS, group: 'statelet' },
  { name: 'inspect-write', type: 'bool', default: false, group: 'statelet' },
];

/** Every flag that `statelet run` takes: the kubelet's and its own. */
export const ALL_FLAGS: readonly FlagRow[] = [...FLAGS, ...OWN_FLAGS];

const byName = new Map(ALL_FLAGS.map((f) => [f.name, f]));
const byShorthand = new Map(ALL_FLAGS.filter((f) => f.shorthand).map((f) => [f.shorthand, f]));

const NO_ARGUMENTS = 'is no flag: `statelet run` and `statelet config` take no arguments, only flags';

export interface ParsedFlags {
  /** By flag name, the texts given, in order; a bool flag without a value is `true`. */
  given: Map<string, string[]>;
  problems: Problem[];
}

/**
 * The command line in the kubelet's syntax (pflag): `--flag=value`, `--flag value`, `--bool`, `--bool=false`, `-v 4`,
 * `-v=4`, `-v4`; `_` in a name counts as `-`. Arguments that are no flags are refused.
 */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const parsed: ParsedFlags = { given: new Map(), problems: [] };
  const words = [...argv];
  const problem = (origin: string, message: string) => void parsed.problems.push({ origin, path: '', message });
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const split = splitWord(word);
    if (word === '--') {
      for (const rest of words.splice(0)) problem(rest, NO_ARGUMENTS);
    } else if (!split) problem(word, NO_ARGUMENTS);
    else {
      const { dashes, name, text } = split;
      const row = dashes === '-' ? byShorthand.get(name) : byName.get(name);
      if (!row) problem(`${dashes}${name}`, `unknown flag${suggestion(name)}`);
      else {
        const value = text ?? row.bare ?? (row.type === 'bool' || row.type === 'version' ? 'true' : words.shift());
        if (value === undefined) problem(`--${row.name}`, `needs a value: accepted is ${row.type}`);
        else parsed.given.set(row.name, [...(parsed.given.get(row.name) ?? []), value]);
      }
    }
  }
  return parsed;
}

function splitWord(word: string): { dashes: string; name: string; text?: string } | undefined {
  const long = /^--([A-Za-z][\w.-]*)(?:=(.*))?$/s.exec(word);
  if (long) return { dashes: '--', name: (long[1] ?? '').replaceAll('_', '-'), text: long[2] };
  const short = /^-([A-Za-z])=?(.*)$/s.exec(word);
  return short ? { dashes: '-', name: short[1] ?? '', text: short[2] || undefined } : undefined;
}

/** A flag whose name has the same letters, or begins alike. */
function suggestion(name: string): string {
  const plain = (text: string) => text.toLowerCase().replaceAll('-', '');
  const near = ALL_FLAGS.find((f) => plain(f.name) === plain(name)) ?? ALL_FLAGS.find((f) => f.name.startsWith(name));
  return near ? `; did you mean --${near.name}?` : '';
}
