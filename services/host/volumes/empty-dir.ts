import { totalmem } from 'node:os';
import { access, chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DesiredPod, Volume } from '../../../machines/kubernetes.types.ts';
import { wholeValue } from '../../../machines/pod/policy/quantity.ts';
import { effectiveLimit, limitOf } from '../../../machines/pod/policy/resources.ts';
import { pluginDirectory, podDirectory, volumeDirectory } from '../directories.ts';
import { ifThere } from '../effect.ts';
import type { HostPaths } from '../host.types.ts';
import { mountTmpfs, readMounts, type MountAsk } from '../mounts.ts';
import { applyFsGroup } from './ownership.ts';
import { makeDirectory } from '../make-directory.ts';
import { allContainers } from '../../../machines/pod/policy/all-containers.ts';

const PLUGIN = 'kubernetes.io/empty-dir';

/** Host path of an emptyDir. */
export const emptyDirPath = (paths: HostPaths, uid: string, volume: string) =>
  volumeDirectory(paths, uid, PLUGIN, volume);

/**
 * An emptyDir ready for use: mode 0777, on disk or a tmpfs of its size; made once, as its marker tells, so that what
 * containers changed of it stays (pkg/volume/emptydir/empty_dir.go:SetUpAt).
 */
export async function setUpEmptyDir(paths: HostPaths, pod: DesiredPod, volume: Volume, host: MountAsk): Promise<void> {
  const { uid } = pod.metadata;
  const path = emptyDirPath(paths, uid, volume.name);
  const marker = join(pluginDirectory(paths, uid, PLUGIN, volume.name), 'ready');
  const memory = volume.emptyDir?.medium === 'Memory';
  const mounted = memory && (await readMounts()).some((mount) => mount.path === path);
  const ready = (await ifThere(access(marker).then(() => true))) && (await ifThere(access(path).then(() => true)));
  if (ready && memory === mounted) return;
  await makeDirectory(path, 0o750);
  if (memory && !mounted) await mountTmpfs(path, `size=${memorySize(pod, volume)}`, host);
  // Apart from mkdir's mode, which the umask cuts.
  await chmod(path, 0o777);
  const { fsGroup } = pod.spec.securityContext ?? {};
  if (fsGroup !== undefined) await applyFsGroup(path, fsGroup, host.signal);
  await makeDirectory(join(marker, '..'), 0o750);
  await writeFile(marker, '', { mode: 0o640 });
}

/** Smallest of the node's memory, the pod's limit and sizeLimit, bytes (emptydir/empty_dir.go:calculateEmptyDirMemorySize). */
function memorySize(pod: DesiredPod, volume: Volume): bigint {
  const all = allContainers(pod.spec);
  const limited = all.every((container) => limitOf(container, 'memory') > 0n);
  const sizeLimit = volume.emptyDir?.sizeLimit;
  return [
    BigInt(totalmem()),
    limited ? effectiveLimit(pod.spec, 'memory') : 0n,
    sizeLimit === undefined ? 0n : wholeValue(sizeLimit),
  ]
    .filter((size) => size > 0n)
    .reduce((smallest, size) => (size < smallest ? size : smallest));
}

/** What emptyDirs held, after their unmounting: contents live until the pod is gone. */
export async function removeEmptyDirs(paths: HostPaths, uid: string): Promise<void> {
  const own = podDirectory(paths, uid);
  const escaped = 'kubernetes.io~empty-dir';
  // The marker first: a half-removed volume must not look ready.
  await rm(join(own, 'plugins', escaped), { recursive: true, force: true });
  await rm(join(own, 'volumes', escaped), { recursive: true, force: true });
}
