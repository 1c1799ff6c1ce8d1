import { createHash } from 'node:crypto';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { component } from './directories.ts';
import { effect, ifThere } from './effect.ts';
import type { HostLogger, HostPaths } from './host.types.ts';
import { makeDirectory } from './make-directory.ts';

/** Of the file's shape; another one is set aside. */
const VERSION = 1;
const DEADLINE_MS = 10_000;

/** What neither the runtime nor the API server remembers, kept over restarts of the agent; by pod UID, or by another key. */
export interface FactStore {
  /** The facts as they were written; undefined where there are none that can be trusted. */
  read(key: string): Promise<Record<string, unknown> | undefined>;
  /** @param durable false: what is of no use after a loss of power, when nothing runs any more, is not waited for */
  write(key: string, facts: Record<string, unknown>, durable?: boolean): Promise<void>;
  remove(key: string): Promise<void>;
  /** Keys (UIDs of pods) that have facts. */
  list(): Promise<string[]>;
}

/**
 * Facts as <rootDir>/statelet/<folder>/<key>.json, replaced as a whole: a crash leaves the old or the new, never a half.
 *
 * @param folder `facts`: of pods, by UID; `manifests`: last good ones; `pods`, `config-maps`, `secrets/…`: of the API
 */
export function createFactStore(
  paths: Pick<HostPaths, 'rootDir'>,
  logger: HostLogger,
  folder: 'facts' | 'manifests' | 'pods' | 'config-maps' | `secrets/${string}` = 'facts',
): FactStore {
  const directory = join(paths.rootDir, 'statelet', folder);
  const file = (key: string) => join(directory, `${component(key, 'pod UID')}.json`);
  let writes = 0;
  return {
    read: (key) =>
      effect('read facts', DEADLINE_MS, undefined, async () => {
        const text = await ifThere(readFile(file(key), 'utf8'));
        if (text === undefined) return undefined;
        const read = decode(text);
        if ('facts' in read) return read.facts;
        const aside = `${file(key)}.corrupt`;
        await rename(file(key), aside);
        logger.warn(
          { ...(folder === 'facts' && { pod: key }), file: aside, problem: read.problem },
          folder === 'facts'
            ? 'facts of a pod cannot be used and were set aside'
            : 'a kept copy cannot be used and was set aside',
        );
        return undefined;
      }),
    write: (key, facts, durable = true) =>
      effect('write facts', DEADLINE_MS, undefined, async () => {
        await makeDirectory(directory, 0o700);
        // A name of its own for each write: two at once must not write into one file.
        const temporary = `${file(key)}.${(writes += 1)}.tmp`;
        const handle = await open(temporary, 'w', 0o600);
        try {
          try {
            await handle.writeFile(JSON.stringify({ version: VERSION, checksum: checksum(facts), facts }));
            if (durable) await handle.sync();
          } finally {
            await handle.close();
          }
          await rename(temporary, file(key));
        } catch (error) {
          // On a disk that is full, each try would leave one more.
          await rm(temporary, { force: true });
          throw error;
        }
      }),
    remove: (key) =>
      effect('remove facts', DEADLINE_MS, undefined, async () => {
        const own = ((await ifThere(readdir(directory))) ?? []).filter((name) => keyOf(name) === key);
        await Promise.all(own.map((name) => rm(join(directory, name), { force: true })));
      }),
    list: () =>
      effect('list facts', DEADLINE_MS, undefined, async () => {
        const names = (await ifThere(readdir(directory))) ?? [];
        return [...new Set(names.flatMap((name) => keyOf(name) ?? []))];
      }),
  };
}

/** Whose facts a file has: whole, set aside, or left half-written by an agent that was killed. */
const keyOf = (name: string) => /^(.+)\.json(?:\.corrupt|\.\d+\.tmp)?$/.exec(name)?.[1];

function decode(text: string): { facts: Record<string, unknown> } | { problem: string } {
  let stored: { version?: unknown; checksum?: unknown; facts?: unknown } | null;
  try {
    stored = JSON.parse(text) as typeof stored;
  } catch {
    // Not the parser's words: they quote the text, and the facts may be a Secret.
    return { problem: 'not JSON' };
  }
  if (stored?.version !== VERSION) return { problem: `version ${String(stored?.version)}: accepted is ${VERSION}` };
  if (typeof stored.facts !== 'object' || stored.facts === null) return { problem: 'facts: must be an object' };
  if (stored.checksum !== checksum(stored.facts)) return { problem: 'checksum does not match' };
  return { facts: stored.facts as Record<string, unknown> };
}

const checksum = (facts: object) => createHash('sha256').update(JSON.stringify(facts)).digest('hex');
