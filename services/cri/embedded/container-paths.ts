import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

import type { Mount } from '../proto/generated/cri.ts';
import { refused } from './errors.ts';

/** Turns paths inside a container into paths of the host. */
type PathRewriter = (text: string) => string;

/**
 * A rewriter for the mounts of a container: wherever a text names a mount's container path, as a whole path or as its
 * beginning, the host path stands instead. `/data` is found in `/data`, `/data/x`, `--dir=/data` and `"/data"`, not in
 * `/database`, `/var/data` or `x/data`. The longest container path wins; what was put in is not searched again.
 */
export function pathRewriter(mounts: readonly Mount[]): PathRewriter {
  const byContainerPath = new Map<string, string>();
  for (const mount of mounts) {
    const path = mount.containerPath.replace(/\/+$/, '');
    if (path !== '') byContainerPath.set(path, mount.hostPath);
  }
  if (byContainerPath.size === 0) return (text) => text;
  const alternatives = [...byContainerPath.keys()].sort((a, b) => b.length - a.length).map(escape);
  const pattern = new RegExp(`(?<![\\w.\\-/~])(?:${alternatives.join('|')})(?![\\w\\-]|\\.\\w)`, 'g');
  return (text) => text.replace(pattern, (path) => byContainerPath.get(path) ?? path);
}

/**
 * The directory to start in: that of the config with mounts applied, where it is there; else the container's scratch
 * directory. A relative one lies in the scratch directory.
 */
export async function workingDirectory(configured: string, rewrite: PathRewriter, scratch: string): Promise<string> {
  if (configured === '') return scratch;
  const wanted = resolve(scratch, rewrite(configured));
  const found = await stat(wanted).catch(() => undefined);
  return found?.isDirectory() === true ? wanted : scratch;
}

/**
 * The executable behind a command, looked up as execvp does on the given PATH.
 * @throws RuntimeFailure with runc's words when there is none or it may not be executed.
 */
export async function lookUpExecutable(command: string, path: string, cwd: string): Promise<string> {
  if (command.includes('/')) {
    const file = resolve(cwd, command);
    const problem = await whyNotExecutable(file);
    if (problem !== undefined) throw refused(`exec: "${command}": stat ${command}: ${problem}`);
    return file;
  }
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, command);
    if ((await whyNotExecutable(file)) === undefined) return file;
  }
  throw refused(`exec: "${command}": executable file not found in $PATH`);
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

async function whyNotExecutable(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return 'no such file or directory';
  if (!found.isFile()) return 'is not a file';
  return access(file, constants.X_OK).then(
    () => undefined,
    () => 'permission denied',
  );
}
