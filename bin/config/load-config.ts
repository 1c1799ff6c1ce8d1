import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { noEffect } from './acting.ts';
import { caveats } from './caveats.ts';
import type { KubeletConfiguration, KubeletFlags } from './data/kubelet-configuration.types.ts';
import { applyDefaults, fillEvictionHard, resolvePaths } from './defaults.ts';
import { decode } from './decode.ts';
import { applyFlags, flagsWithoutField, readFlags, type GivenFlags } from './apply-flags.ts';
import { gateEnabled, gateNamed } from './gates.ts';
import { inspectAddress, type InspectAddress } from './inspect-address.ts';
import { mergePatch, originOf, shownOrigin, type Origins } from './merge.ts';
import { ConfigError, describe, type Problem } from './problem.ts';
import { quickstartLayer } from './quickstart.ts';
import { readDocument } from './read-document.ts';
import { RULES } from './rules/index.ts';
import type { Fail } from './rules/rule.types.ts';
import { SCHEMA, type JsonObject } from './schema.ts';

export interface LoadedConfig {
  config: KubeletConfiguration;
  flags: KubeletFlags;
  /** Where each value came from, by JSON path. */
  origins: Origins;
  /** One line each, with file and field. */
  warnings: string[];
  gate(name: string): boolean;
  /** `--quickstart` was given. */
  quickstart: boolean;
  /** `--container-logs-dir`; empty where no links are made. */
  containerLogsDir: string;
  /** `--inspect`: where the inspector listens, and whether its clients may send events. */
  inspect?: InspectAddress & { write: boolean };
}

/** The files that loading reads; replaced in tests. */
export interface ConfigFiles {
  readFile(path: string): Uint8Array;
  /** Paths of all files below the folder. */
  listFolder(path: string): string[];
}

const DISK: ConfigFiles = {
  readFile: (path) => readFileSync(path),
  listFolder: (path) =>
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name)),
};

/**
 * The effective configuration of a command line: defaults < `--config` < `--config-dir`/*.conf in path order < flags
 * that were given (cmd/kubelet/app/server.go:NewKubeletCommand).
 *
 * @throws ConfigError with one line for each thing that is wrong
 */
export function loadConfig({ argv, files = DISK }: { argv: readonly string[]; files?: ConfigFiles }): LoadedConfig {
  const given = readFlags(argv);
  const flags = flagsWithoutField(given);
  const state: State = { merged: {}, origins: {}, warnings: [...given.warnings], problems: [] };
  const quickstart = given.values.get('quickstart') === true;
  if (quickstart) {
    const layer = quickstartLayer(process.env);
    mergePatch(state.merged, layer.config, 'flag:--quickstart', state.origins);
    if (!given.values.has('root-dir')) flags.rootDir = layer.flags.rootDir;
  }
  const strict = given.values.get('strict-config') === true;
  if (flags.config) {
    const file = resolve(flags.config);
    mergeFile(state, file, 'file', strict, files);
    fillEvictionHard(state.merged, state.origins);
  }
  if (flags.configDir)
    for (const file of dropIns(resolve(flags.configDir), state, files))
      mergeFile(state, file, 'drop-in', strict, files);
  if (state.problems.length) throw new ConfigError(state.problems);
  if (flags.config) fillMerged(state);
  return finish(state, given, flags, quickstart);
}

interface State {
  merged: JsonObject;
  origins: Origins;
  warnings: string[];
  problems: Problem[];
}

/** Signals that a drop-in's mergeDefaultEvictionSettings asks for. */
function fillMerged({ merged, origins }: State): void {
  if (merged['mergeDefaultEvictionSettings'] === true) fillEvictionHard(merged, origins);
}

function mergeFile(state: State, file: string, kind: 'file' | 'drop-in', strict: boolean, files: ConfigFiles): void {
  const bytes = attempt(state, file, () => files.readFile(file));
  if (!bytes) return;
  const read = attempt(state, file, () => readDocument(file, bytes));
  if (!read) return;
  const complain = (path: string, message: string, fatal: boolean) =>
    fatal
      ? state.problems.push({ origin: file, path, message })
      : state.warnings.push(describe({ origin: file, path, message }));
  const refused = 'refused by --strict-config';
  const twice =
    kind === 'drop-in'
      ? 'is said twice: accepted is once'
      : `is said twice, ${strict ? `${refused}: accepted is once` : 'the last one is used'}`;
  for (const path of read.duplicates) complain(path, twice, strict || kind === 'drop-in');
  const rest = strict ? refused : 'which have no effect';
  if (read.more) complain('', `has ${read.more} more document(s), ${rest}: accepted is one`, strict);
  const decoded = decode(read.document, SCHEMA);
  for (const { path, message } of decoded.wrong) complain(path, message, true);
  for (const { path, near, accepted } of decoded.unknown) {
    const hint = near ? `; did you mean ${near}?` : strict ? `; accepted are ${accepted.join(', ')}` : '';
    complain(path, `unknown field, ${strict ? refused : 'it has no effect'}${hint}`, strict);
  }
  resolvePaths(decoded.value, dirname(file));
  mergePatch(state.merged, decoded.value, `${kind}:${file}`, state.origins);
}

/** Names ending in .conf, in lexical order of their paths; others are skipped with a warning. */
function dropIns(folder: string, state: State, files: ConfigFiles): string[] {
  const all = attempt(state, folder, () => files.listFolder(folder)) ?? [];
  const sorted = all.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  for (const file of sorted)
    if (!file.endsWith('.conf')) state.warnings.push(`${file}: skipped: names of drop-in files end in .conf`);
  return sorted.filter((file) => file.endsWith('.conf'));
}

/** The answer, or undefined with the failure kept as a problem of the file. */
function attempt<T>(state: State, file: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) state.problems.push(...error.problems);
    else if (error instanceof Error && 'code' in error)
      state.problems.push({ origin: file, path: '', message: `cannot be read: ${error.message}` });
    else throw error;
    return undefined;
  }
}

function finish(state: State, given: GivenFlags, flags: KubeletFlags, quickstart: boolean): LoadedConfig {
  const { merged, origins, warnings } = state;
  applyFlags(merged, origins, given, (name) => name === 'feature-gates');
  warnings.push(...applyDefaults(merged, origins, !flags.config && !quickstart));
  applyFlags(merged, origins, given, (name) => name !== 'feature-gates');
  const config = merged as unknown as KubeletConfiguration;
  const gate = (name: string) => gateEnabled(name, config.featureGates);
  const problems: Problem[] = [];
  const fail = (path: string, message: string) =>
    problems.push(
      path.startsWith('--')
        ? { origin: path, path: '', message }
        : { origin: shownOrigin(originOf(origins, path)), path, message },
    );
  for (const rule of RULES) rule({ config, flags, gate }, fail);
  const inspect = inspection(given, fail);
  if (problems.length) throw new ConfigError(problems);
  for (const [name, value] of Object.entries(config.featureGates ?? {})) {
    const stage = gateNamed(name)?.stage;
    if (stage === 'GA' || stage === 'Deprecated')
      warnings.push(
        `${shownOrigin(originOf(origins, `featureGates.${name}`))}: featureGates.${name}: ${value}: a ${stage} gate, it will go away`,
      );
  }
  warnings.push(...caveats(config, origins), ...noEffect(merged, origins, given.values));
  // The quick start writes nothing outside its own folder.
  const containerLogsDir = given.values.get('container-logs-dir') ?? (quickstart ? '' : '/var/log/containers');
  return { config, flags, origins, warnings, gate, quickstart, containerLogsDir: String(containerLogsDir), inspect };
}

function inspection({ values }: GivenFlags, fail: Fail): LoadedConfig['inspect'] {
  const address = values.get('inspect');
  const write = values.get('inspect-write') === true;
  if (write && address === undefined)
    fail('--inspect-write', 'needs the inspector: accepted is it together with --inspect');
  const read = inspectAddress(String(address ?? ''));
  return read && { ...read, write };
}
