import { watch, type FSWatcher, type Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WatchManifestsEvent } from '../../../machines/syncloop/pod-source.types.ts';
import { errno, ifThere } from '../effect.ts';
import { startChanges } from './changes.ts';

/** Wait before a watch that failed is tried again, doubling (config/file_linux.go). */
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 20_000;

/**
 * Watches a manifest folder, or a single file by the folder that it is in, until it is stopped, from when it is there. A watch that fails is told
 * and tried again; the periodic re-read covers the time between.
 *
 * @returns stops it
 */
export function watchLocation(location: string, send: (event: WatchManifestsEvent) => void): () => void {
  let stopped = false;
  let retry: NodeJS.Timeout | undefined;
  let close: (() => void) | undefined;
  let wait = RETRY_MS;
  let failed = false;
  let told = false;

  /** Without a message nothing is told: that the location is not there is told by reading it. */
  const fail = (message?: string) => {
    if (stopped) return;
    close?.();
    close = undefined;
    if (message !== undefined && !told) {
      send({ type: 'watch.failed', message });
      told = true;
    }
    failed = true;
    retry = setTimeout(() => void open(), wait);
    wait = Math.min(wait * 2, RETRY_MAX_MS);
  };

  const open = async () => {
    try {
      const opened = await openWatch(location, () => !stopped && send({ type: 'manifests.changed' }), fail);
      if (stopped) return opened();
      close = opened;
      wait = RETRY_MS;
      // What changed while nothing was watched.
      if (failed) send({ type: 'manifests.changed' });
      failed = false;
      told = false;
    } catch (error) {
      const code = errno(error);
      fail(code === 'ENOENT' ? undefined : `cannot watch ${location}: ${code ?? String(error)}`);
    }
  };
  void open();
  return () => {
    stopped = true;
    clearTimeout(retry);
    close?.();
  };
}

async function openWatch(
  location: string,
  changed: () => void,
  failed: (message: string) => void,
): Promise<() => void> {
  const stats = await ifThere(stat(location));
  // A single file that is not there yet is waited for in its folder; so is a folder's own appearing, by trying again.
  const single = stats ? !stats.isDirectory() : undefined;
  const folder = single === false ? location : dirname(location);
  if (single === undefined && !/\.(ya?ml|json|manifest)$/.test(location))
    throw Object.assign(new Error(`${location} does not exist`), { code: 'ENOENT' });
  const identity = await stat(folder);
  const ours = (name: string) =>
    single === false ? !name.startsWith('.') || name === '..data' : name === basename(location) || name === '..data';
  let over = false;
  const names = new Set<string>();
  const changes = startChanges({
    known: names,
    // Two turns: what was written before the look is then among the events that came.
    look: async (name) => {
      const found = await ifThere(stat(join(folder, name)));
      await nextTurn();
      await nextTurn();
      return found && { complete: found.isDirectory() || found.size > 0 };
    },
    changed,
  });
  const end = (message?: string) => {
    if (over) return;
    over = true;
    changes.stop();
    watcher.close();
    if (message !== undefined) failed(message);
  };
  // A folder made anew may get the inode number that the removed one has just given back.
  const replaced = (now: Stats | undefined) =>
    !now || now.ino !== identity.ino || now.dev !== identity.dev || now.birthtimeMs !== identity.birthtimeMs;
  const watcher: FSWatcher = watch(folder, (kind, name) => {
    if (over) return;
    // An event that bears the folder's own name, or none, can be the end of the folder itself.
    if (name === null || name === basename(folder))
      void ifThere(stat(folder)).then(
        (now) => replaced(now) && end(`${folder} was removed or replaced`),
        (error: unknown) => end(`cannot watch ${folder}: ${errno(error) ?? String(error)}`),
      );
    if (name === null) changes.event('rename', '');
    else if (ours(name)) changes.event(kind === 'rename' ? 'rename' : 'change', name);
  });
  watcher.on('error', (error) => end(`watch of ${folder} broke: ${errno(error) ?? String(error)}`));
  try {
    for (const name of await readdir(folder)) if (ours(name)) names.add(name);
  } catch (error) {
    end();
    throw error;
  }
  return () => end();
}
