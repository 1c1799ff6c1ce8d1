import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Bits that fsGroup adds: group access to files; to folders also passage and the group's inheritance. */
const FILE = 0o660;
const FOLDER = 0o2770;

/**
 * Gives a volume to the pod's fsGroup: group and group bits of everything in it; links keep their modes
 * (pkg/volume/volume_linux.go:changeFilePermission).
 */
export async function applyFsGroup(path: string, fsGroup: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const stats = await lstat(path);
  await lchown(path, stats.uid, fsGroup);
  if (stats.isSymbolicLink()) return;
  // After chown, which clears setgid.
  await chmod(path, (stats.mode & 0o7777) | (stats.isDirectory() ? FOLDER : FILE));
  if (stats.isDirectory())
    for (const name of await readdir(path)) await applyFsGroup(join(path, name), fsGroup, signal);
}
