import { constants } from 'node:fs';
import { lstat, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RawManifest } from '../../../machines/syncloop/pod-source.types.ts';
import { errno, ifThere } from '../effect.ts';
import { decodeManifest, MAX_MANIFEST } from './decode.ts';

/** Files read at a time: enough to hide latency, few enough for file handles and memory. */
const AT_ONCE = 16;

/**
 * The manifests of a folder or of a single file, sorted by path (config/file.go:extractFromDir). In a folder dotfiles are
 * skipped; a sub-folder, a device and what cannot be read are answered with an error and hide no other file.
 *
 * @throws the error of the folder itself where it is there and cannot be listed: nothing may be judged absent then
 */
export async function readFiles(location: string, known: KnownFiles): Promise<RawManifest[]> {
  const stats = await ifThere(stat(location));
  if (!stats) return [{ origin: location, error: 'does not exist', missing: true }];
  if (!stats.isDirectory()) return [await readManifest(location)].flatMap((manifest) => manifest ?? []);
  const names = (await readdir(location)).filter((name) => !name.startsWith('.')).sort();
  const manifests: RawManifest[] = [];
  for (let start = 0; start < names.length; start += AT_ONCE) {
    const some = names.slice(start, start + AT_ONCE).map((name) => readAgain(join(location, name), known));
    for (const manifest of await Promise.all(some)) if (manifest) manifests.push(manifest);
  }
  const there = new Set(manifests.map((manifest) => manifest.origin));
  for (const origin of known.keys()) if (!there.has(origin)) known.delete(origin);
  return manifests;
}

/** Files as they were read last, so that one new manifest among hundreds does not cost reading them all. */
export type KnownFiles = Map<string, { stamp: string; manifest: RawManifest }>;

/** A file younger than this, ms, may be written again without a change of its times, which move by ticks of the kernel. */
const SETTLED_MS = 50;

/** What was read before where the file is unchanged since: same inode, size and times, the last change being no news. */
async function readAgain(origin: string, known: KnownFiles): Promise<RawManifest | undefined> {
  // What cannot even be looked at (a loop of links, a folder that may not be entered) is told by reading it.
  const stats = await stat(origin, { bigint: true }).catch(() => undefined);
  if (!stats) return readManifest(origin);
  const stamp = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join();
  const last = known.get(origin);
  if (last?.stamp === stamp) return last.manifest;
  const manifest = await readManifest(origin);
  if (manifest?.text !== undefined && Date.now() - Number(stats.ctimeMs) > SETTLED_MS)
    known.set(origin, { stamp, manifest });
  else known.delete(origin);
  return manifest;
}

/** One file; undefined where it went away meanwhile. A link to nothing is no removal: what it named may come back. */
async function readManifest(origin: string): Promise<RawManifest | undefined> {
  try {
    // Not blocking, or a pipe without a writer would be waited for.
    const file = await open(origin, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (stats.isDirectory()) return { origin, error: 'is a folder; sub-folders are not read' };
      if (!stats.isFile()) return { origin, error: 'is not a regular file' };
      if (stats.size > MAX_MANIFEST) return { origin, error: 'is larger than 10 MiB' };
      return { origin, text: decodeManifest(await file.readFile()) };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = errno(error);
    if (code === 'ENOENT') return (await ifThere(lstat(origin))) && { origin, error: 'is a link to nothing' };
    if (code === 'ENXIO') return { origin, error: 'is not a regular file' };
    const { message = String(error) } = (error ?? {}) as { message?: string };
    return { origin, error: code ? `cannot be read: ${message}` : message };
  }
}
