import { isAbsolute, resolve } from 'node:path';
import type { KubeletFlags } from './data/kubelet-configuration.types.ts';
import { flagValue } from './flag-value.ts';
import { mergePatch, forget, type Origins } from './merge.ts';
import { ALL_FLAGS, parseFlags } from './parse-flags.ts';
import { ConfigError, shown } from './problem.ts';
import { isObject, setValueAt, valueAt, type Json, type JsonObject } from './schema.ts';
import type { FlagRow } from './tables.types.ts';

/** The flags that stood on the command line, with their values. */
export interface GivenFlags {
  values: ReadonlyMap<string, Json>;
  /** Deprecation notes. */
  warnings: string[];
}

/** Flags that name a file or folder. */
const PATHS =
  /^(root-dir|config|config-dir|cert-dir|lock-file|kubeconfig|bootstrap-kubeconfig|pod-manifest-path|resolv-conf|client-ca-file|tls-cert-file|tls-private-key-file|volume-plugin-dir|container-logs-dir|image-credential-provider-(config|bin-dir))$/;

/**
 * A relative path begins at the working directory, in which the agent need not stay; a node's name has no capitals and no
 * blanks around it (component-helpers/node/util/hostname.go:GetHostname).
 */
function tidy(name: string, value: Json): Json {
  if (typeof value !== 'string' || value === '') return value;
  if (name === 'hostname-override') return value.trim().toLowerCase() || value;
  return PATHS.test(name) && !isAbsolute(value) ? resolve(value) : value;
}

/** Values that may be secret and are not shown in messages. */
const SECRET = /password|header/;

/**
 * Reads the command line.
 * @throws ConfigError for unknown flags and for values of the wrong type
 */
export function readFlags(argv: readonly string[]): GivenFlags {
  const { given, problems } = parseFlags(argv);
  const values = new Map<string, Json>();
  const warnings: string[] = [];
  for (const row of ALL_FLAGS) {
    const texts = given.get(row.name);
    if (!texts) continue;
    const result = flagValue(row, texts);
    if ('value' in result) values.set(row.name, tidy(row.name, result.value));
    else
      problems.push({
        origin: `--${row.name}`,
        path: '',
        message: `${SECRET.test(row.name) ? 'the value' : shown(texts.at(-1))} is not ${result.accepted}`,
      });
    if (row.deprecated)
      warnings.push(`--${row.name}: deprecated${row.field ? `; set ${row.field} in the file given to --config` : ''}`);
  }
  if (problems.length) throw new ConfigError(problems);
  return { values, warnings };
}

/** Sets the fields of the flags that were given, in place: maps and lists are replaced, feature gates merge by key. */
export function applyFlags(
  config: JsonObject,
  origins: Origins,
  { values }: GivenFlags,
  which: (name: string) => boolean,
): void {
  for (const row of ALL_FLAGS) {
    const value = values.get(row.name);
    if (value === undefined || !row.field || !which(row.name)) continue;
    const origin = `flag:--${row.name}`;
    if (row.name === 'feature-gates' && isObject(value)) mergePatch(config, { featureGates: value }, origin, origins);
    // seccomp-default is OR-ed with the file's value.
    else if (row.name === 'seccomp-default' && value === false && valueAt(config, ['seccompDefault']) === true)
      continue;
    else {
      setValueAt(config, row.field.split('.'), value);
      forget(origins, row.field);
      origins[row.field] = origin;
    }
  }
}

/** The flags that have no field, with their defaults; `--root-dir` and the like. */
export function flagsWithoutField({ values }: GivenFlags): KubeletFlags {
  const flags: JsonObject = {};
  for (const row of ALL_FLAGS)
    if (!row.field && row.group === 'kubelet') flags[camel(row.name)] = values.get(row.name) ?? fallback(row);
  return flags as unknown as KubeletFlags;
}

function fallback(row: FlagRow): Json {
  return row.type === 'mapStringString' ? {} : ((row.default ?? '') as Json);
}

function camel(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
