import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
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
export async function readFiles(location: string): Promise<RawManifest[]> {
  const stats = await ifThere(stat(location));
  if (!stats) return [{ origin: location, error: 'does not exist', missing: true }];
  if (!stats.isDirectory()) return [await readManifest(location)].flatMap((manifest) => manifest ?? []);
  const names = (await readdir(location)).filter((name) => !name.startsWith('.')).sort();
  const manifests: RawManifest[] = [];
  for (let start = 0; start < names.length; start += AT_ONCE) {
    const some = names.slice(start, start + AT_ONCE).map((name) => readManifest(join(location, name)));
    for (const manifest of await Promise.all(some)) if (manifest) manifests.push(manifest);
  }
  return manifests;
}

/** One file; undefined where it went away meanwhile. */
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
    if (code === 'ENOENT') return undefined;
    if (code === 'ENXIO') return { origin, error: 'is not a regular file' };
    const { message = String(error) } = (error ?? {}) as { message?: string };
    return { origin, error: code ? `cannot be read: ${message}` : message };
  }
}
