import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError } from '../../../machines/agent-error.types.ts';
import type { DesiredPod, Volume } from '../../../machines/kubernetes.types.ts';
import type { VolumeFile } from '../../../machines/pod/policy/volume-content.ts';
import { podDirectory, volumeDirectory } from '../directories.ts';
import type { HostLogger, HostPaths } from '../host.types.ts';
import { makeDirectory } from '../make-directory.ts';
import { mountTmpfs, readMounts, type MountAsk } from '../mounts.ts';
import { writeVolume } from './atomic-writer.ts';
import { applyFsGroup, giveFolder } from './ownership.ts';

/** Where a kubelet has such a volume, and whether it lies in memory there. */
function pluginOf({ secret, projected, downwardAPI }: Volume): { plugin: string; memory: boolean } {
  if (secret) return { plugin: 'kubernetes.io/secret', memory: true };
  if (projected) return { plugin: 'kubernetes.io/projected', memory: true };
  if (downwardAPI) return { plugin: 'kubernetes.io/downward-api', memory: true };
  return { plugin: 'kubernetes.io/configmap', memory: false };
}

/** Host path of a volume whose content the agent writes. */
export const contentPath = (paths: HostPaths, uid: string, volume: Volume) =>
  volumeDirectory(paths, uid, pluginOf(volume).plugin, volume.name);

/**
 * A configMap, secret, downwardAPI or projected volume with this content: on tmpfs but for configMaps where the agent may
 * mount, its files given to the pod's fsGroup (pkg/volume/secret/secret.go:SetUpAt).
 */
export async function setUpContent(
  paths: HostPaths,
  pod: DesiredPod,
  volume: Volume,
  files: readonly VolumeFile[],
  { logger, signal }: MountAsk,
): Promise<void> {
  const path = contentPath(paths, pod.metadata.uid, volume);
  const { fsGroup } = pod.spec.securityContext ?? {};
  await makeDirectory(path, 0o750);
  const inMemory = pluginOf(volume).memory && (await haveMemory(path, logger, signal));
  // A tmpfs is open to all by itself; of a folder the umask has cut the mode.
  if (!inMemory) await chmod(path, 0o777);
  signal.throwIfAborted();
  if (fsGroup !== undefined) await giveFolder(path, fsGroup, 'readOnly');
  await writeVolume(path, files, async (folder) => {
    if (fsGroup !== undefined) await applyFsGroup(folder, fsGroup, signal, 'readOnly');
  });
}

/** What volumes showed, after their unmounting. */
export async function removeContents(paths: HostPaths, uid: string): Promise<void> {
  for (const kind of ['secret', 'projected', 'downward-api', 'configmap'])
    await rm(join(podDirectory(paths, uid), 'volumes', `kubernetes.io~${kind}`), { recursive: true, force: true });
}

/** One line where memory cannot be had at all. */
let toldOnDisk = false;

async function haveMemory(path: string, logger: HostLogger, signal: AbortSignal): Promise<boolean> {
  if ((await readMounts()).some((mount) => mount.path === path)) return true;
  if (process.geteuid?.() !== 0) return false;
  try {
    await mountTmpfs(path, 'mode=1777', { logger, signal });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    const { message } = AgentError.from(error, 'mount');
    if (!toldOnDisk) logger.warn({ problem: message }, 'volumes of secrets lie on disk: no memory could be mounted');
    toldOnDisk = true;
    return false;
  }
}
