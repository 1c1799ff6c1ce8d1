import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { component } from './directories.ts';
import { effect, ifThere } from './effect.ts';
import type { HostLogger, HostPaths } from './host.types.ts';

/** Of the file's shape; another one is set aside. */
const VERSION = 1;
const DEADLINE_MS = 10_000;

/** What neither the runtime nor the API server remembers of a pod, kept over restarts of the agent. */
export interface FactStore {
  /** The pod's facts as they were written; undefined where there are none that can be trusted. */
  read(uid: string): Promise<Record<string, unknown> | undefined>;
  write(uid: string, facts: Record<string, unknown>): Promise<void>;
  remove(uid: string): Promise<void>;
  /** UIDs of the pods that have facts. */
  list(): Promise<string[]>;
}

/** Facts as <rootDir>/statelet/facts/<uid>.json, replaced as a whole: a crash leaves the old or the new, never a half. */
export function createFactStore(paths: Pick<HostPaths, 'rootDir'>, logger: HostLogger): FactStore {
  const directory = join(paths.rootDir, 'statelet', 'facts');
  const file = (uid: string) => join(directory, `${component(uid, 'pod UID')}.json`);
  let writes = 0;
  return {
    read: (uid) =>
      effect('read facts', DEADLINE_MS, undefined, async () => {
        const text = await ifThere(readFile(file(uid), 'utf8'));
        if (text === undefined) return undefined;
        const read = decode(text);
        if ('facts' in read) return read.facts;
        const aside = `${file(uid)}.corrupt`;
        await rename(file(uid), aside);
        logger.warn(
          { pod: uid, file: aside, problem: read.problem },
          'facts of a pod cannot be used and were set aside',
        );
        return undefined;
      }),
    write: (uid, facts) =>
      effect('write facts', DEADLINE_MS, undefined, async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        // A name of its own for each write: two at once must not write into one file.
        const temporary = `${file(uid)}.${(writes += 1)}.tmp`;
        const handle = await open(temporary, 'w', 0o600);
        try {
          await handle.writeFile(JSON.stringify({ version: VERSION, checksum: checksum(facts), facts }));
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(temporary, file(uid));
      }),
    remove: (uid) =>
      effect('remove facts', DEADLINE_MS, undefined, async () => {
        await Promise.all([file(uid), `${file(uid)}.corrupt`].map((path) => rm(path, { force: true })));
      }),
    list: () =>
      effect('list facts', DEADLINE_MS, undefined, async () => {
        const names = (await ifThere(readdir(directory))) ?? [];
        return [...new Set(names.flatMap((name) => /^(.+)\.json(?:\.corrupt)?$/.exec(name)?.[1] ?? []))];
      }),
  };
}

function decode(text: string): { facts: Record<string, unknown> } | { problem: string } {
  let stored: { version?: unknown; checksum?: unknown; facts?: unknown } | null;
  try {
    stored = JSON.parse(text) as typeof stored;
  } catch (error) {
    return { problem: `not JSON: ${String(error)}` };
  }
  if (stored?.version !== VERSION) return { problem: `version ${String(stored?.version)}: accepted is ${VERSION}` };
  if (typeof stored.facts !== 'object' || stored.facts === null) return { problem: 'facts: must be an object' };
  if (stored.checksum !== checksum(stored.facts)) return { problem: 'checksum does not match' };
  return { facts: stored.facts as Record<string, unknown> };
}

const checksum = (facts: object) => createHash('sha256').update(JSON.stringify(facts)).digest('hex');
