import { open, stat } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { ifThere } from '../effect.ts';
import { makeDirectory } from '../make-directory.ts';

const KINDS: Record<string, { what: string; is: (stats: Stats) => boolean; create?: (path: string) => Promise<void> }> =
  {
    Directory: { what: 'directory', is: (s) => s.isDirectory() },
    DirectoryOrCreate: {
      what: 'directory',
      is: (s) => s.isDirectory(),
      create: (path) => makeDirectory(path, 0o755),
    },
    File: { what: 'file', is: (s) => !s.isDirectory() },
    FileOrCreate: {
      what: 'file',
      is: (s) => !s.isDirectory(),
      // Parents are not made: a missing one is a mount error (B108).
      create: async (path) => (await open(path, 'a', 0o644)).close(),
    },
    Socket: { what: 'socket file', is: (s) => s.isSocket() },
    CharDevice: { what: 'character device', is: (s) => s.isCharacterDevice() },
    BlockDevice: { what: 'block device', is: (s) => s.isBlockDevice() },
  };

/**
 * Checks a hostPath against its type, making what `…OrCreate` asks for; symbolic links are followed. Type '' checks
 * nothing (pkg/volume/hostpath/host_path.go:checkTypeInternal).
 *
 * @throws Error with the kubelet's words, and whether anything is there
 */
export async function checkHostPath({ path, type }: { path: string; type?: string }): Promise<void> {
  if (!type) return;
  const kind = KINDS[type];
  if (!kind) throw new Error(`${type} is an invalid volume type: accepted are ${Object.keys(KINDS).join(', ')}`);
  let stats = await ifThere(stat(path));
  if (!stats && kind.create) {
    await kind.create(path);
    stats = await stat(path);
  }
  if (stats && kind.is(stats)) return;
  const missing = stats ? '' : ': it does not exist';
  throw new Error(`hostPath type check failed: ${path} is not a ${kind.what}${missing}`);
}
