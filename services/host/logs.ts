import { access, readdir, readlink, rm, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Container, DesiredPod } from '../../machines/kubernetes.types.ts';
import { containerLogPath, legacyLogLinkName } from '../../machines/pod/policy/names.ts';
import { podLogDirectory } from './directories.ts';
import { errno, ifThere } from './effect.ts';
import type { HostPaths } from './host.types.ts';
import { makeDirectory } from './make-directory.ts';

/** Makes <containerLogsDir>/<pod>_<namespace>_<container>-<id>.log (kuberuntime/legacy.go:logSymlink); done where it is right. */
export async function linkLog(
  paths: HostPaths,
  pod: DesiredPod,
  container: Container,
  attempt: number,
  id: string,
): Promise<void> {
  if (!paths.containerLogsDir) return;
  const target = join(podLogDirectory(paths, pod), containerLogPath(container, attempt));
  const link = join(paths.containerLogsDir, legacyLogLinkName(pod, container, id));
  await makeDirectory(paths.containerLogsDir, 0o755);
  try {
    await symlink(target, link);
  } catch (error) {
    if (errno(error) !== 'EEXIST') throw error;
    if ((await ifThere(readlink(link))) === target) return;
    await rm(link, { force: true });
    await symlink(target, link);
  }
}

/** The log of one instance: its file, rotated files and link (kuberuntime/kuberuntime_gc.go:removeOldestN). */
export async function removeLog(paths: HostPaths, id: string, logPath: string): Promise<void> {
  if (logPath) {
    const name = basename(logPath);
    const files = (await ifThere(readdir(dirname(logPath)))) ?? [];
    const own = files.filter((file) => file === name || file.startsWith(`${name}.`));
    await Promise.all(own.map((file) => rm(join(dirname(logPath), file), { force: true })));
  }
  if (!paths.containerLogsDir || !id) return;
  const links = (await ifThere(readdir(paths.containerLogsDir))) ?? [];
  const own = links.filter((link) => link.endsWith(`-${id}.log`));
  await Promise.all(own.map((link) => rm(join(paths.containerLogsDir ?? '', link), { force: true })));
}

/** Removes links to logs of pods whose log folder is gone; a link to what is still there, or elsewhere, is left. */
export async function removeDanglingLinks(paths: HostPaths): Promise<void> {
  const { containerLogsDir, podLogsDir } = paths;
  if (!containerLogsDir) return;
  for (const name of (await ifThere(readdir(containerLogsDir))) ?? []) {
    const link = join(containerLogsDir, name);
    let target: string;
    try {
      target = await readlink(link);
    } catch (error) {
      // Not a link, or gone meanwhile: not one of ours.
      if (errno(error) === 'EINVAL' || errno(error) === 'ENOENT') continue;
      throw error;
    }
    if (!target.startsWith(`${podLogsDir}/`)) continue;
    // By the pod's folder, not the file: during rotation a live log's file is away for a moment.
    const folder = join(podLogsDir, target.slice(podLogsDir.length + 1).split('/')[0] ?? '');
    if (!(await ifThere(access(folder).then(() => true)))) await ifThere(unlink(link));
  }
}
