import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Bits that fsGroup adds: group access; to folders also passage and the group's inheritance. */
const ACCESS = { readWrite: 0o660, readOnly: 0o440 };
const FOLDER = 0o2110;

/**
 * Gives a volume to the pod's fsGroup: group and group bits of everything in it; links keep their modes
 * (pkg/volume/volume_linux.go:changeFilePermission).
 */
export async function applyFsGroup(
  path: string,
  fsGroup: number,
  signal: AbortSignal,
  access: keyof typeof ACCESS = 'readWrite',
): Promise<void> {
  signal.throwIfAborted();
  const stats = await lstat(path);
  await lchown(path, stats.uid, fsGroup);
  if (stats.isSymbolicLink()) return;
  // After chown, which clears setgid.
  await chmod(path, (stats.mode & 0o7777) | ACCESS[access] | (stats.isDirectory() ? FOLDER : 0));
  if (stats.isDirectory())
    for (const name of await readdir(path)) await applyFsGroup(join(path, name), fsGroup, signal, access);
}

/** Gives the folder alone to the group, as applyFsGroup does with all that is in it. */
export async function giveFolder(path: string, fsGroup: number, access: keyof typeof ACCESS): Promise<void> {
  const { uid, mode } = await lstat(path);
  await lchown(path, uid, fsGroup);
  await chmod(path, (mode & 0o7777) | ACCESS[access] | FOLDER);
}
