import { AgentError } from '../../../machines/agent-error.types.ts';
import type { DesiredPod, Volume } from '../../../machines/kubernetes.types.ts';
import { hasContent, type VolumeFile } from '../../../machines/pod/policy/volume-content.ts';
import { podDirectory } from '../directories.ts';
import { hostError } from '../effect.ts';
import type { HostPaths } from '../host.types.ts';
import { mountsBelow, readMounts, unmount, type MountAsk } from '../mounts.ts';
import { contentPath, removeContents, setUpContent } from './content.ts';
import { emptyDirPath, removeEmptyDirs, setUpEmptyDir } from './empty-dir.ts';
import { checkHostPath } from './host-path.ts';

/**
 * One volume, ready to be bound.
 *
 * @param files what it shows, where the agent writes that
 */
export async function setUpVolume(
  paths: HostPaths,
  pod: DesiredPod,
  volume: Volume,
  files: readonly VolumeFile[],
  host: MountAsk,
): Promise<void> {
  try {
    if (volume.hostPath) await checkHostPath(volume.hostPath);
    else if (volume.emptyDir && isSupported(volume)) await setUpEmptyDir(paths, pod, volume, host);
    else if (hasContent(volume)) await setUpContent(paths, pod, volume, files, host);
    else throw new Error(`of its sources only ${SOURCES} are supported`);
  } catch (error) {
    throw mountError(volume.name, error);
  }
}

const SOURCES = 'hostPath, emptyDir (medium "" or "Memory"), configMap, secret, downwardAPI and projected';

const isSupported = ({ emptyDir }: Volume) => ['', 'Memory'].includes(emptyDir?.medium ?? '');

/** What kept a volume from being set up, in the kubelet's words (events.tsv FailedMount). */
export function mountError(volume: string, error: unknown): AgentError {
  const { message, transient } = hostError(error, 'mount volume');
  return new AgentError({
    op: `mount volume "${volume}"`,
    reason: 'FailedMount',
    message: `MountVolume.SetUp failed for volume "${volume}" : ${message}`,
    transient,
    cause: error,
  });
}

/** The pod's volume of this name, of a source that can be mounted. @throws AgentError where the spec has no such volume */
export function volumeOf(pod: DesiredPod, name: string): Volume {
  const volume = pod.spec.volumes?.find((candidate) => candidate.name === name);
  if (volume && (volume.hostPath || volume.emptyDir || hasContent(volume))) return volume;
  throw new AgentError({
    op: `bind volume "${name}"`,
    reason: 'CreateContainerConfigError',
    message: `volumeMounts name "${name}", of which spec.volumes has no supported volume`,
    transient: false,
  });
}

/** Where a volume of the pod is on the host. @throws AgentError where the spec has no such volume */
export function volumePath(paths: HostPaths, pod: DesiredPod, name: string): string {
  const volume = volumeOf(pod, name);
  if (volume.hostPath) return volume.hostPath.path;
  return volume.emptyDir ? emptyDirPath(paths, pod.metadata.uid, name) : contentPath(paths, pod.metadata.uid, volume);
}

/** Mounts that need nothing but umount: tmpfs of the agent's or a kubelet's volumes, and sub-path binds. */
const PLAIN = /^\/(?:volumes\/kubernetes\.io~(?:empty-dir|secret|projected|downward-api)\/|volume-subpaths\/)/;

/**
 * Unmounts what the pod's volumes had mounted below the pod's folder, all that can be: one that is in use keeps no other.
 * Mounts of other kinds (CSI and the like) need their plugin and are left.
 *
 * @throws AgentError with every mount that is left; whoever asked tries again
 */
export async function unmountVolumes(paths: HostPaths, uid: string, signal: AbortSignal): Promise<void> {
  const own = podDirectory(paths, uid);
  const failed: AgentError[] = [];
  for (const mount of mountsBelow(await readMounts(), own)) {
    signal.throwIfAborted();
    if (!PLAIN.test(mount.path.slice(own.length))) continue;
    await unmount(mount, signal).catch((error: unknown) => failed.push(AgentError.from(error, 'umount')));
  }
  const [first] = failed;
  if (!first) return;
  const message = `${failed.map((error) => error.message).join('; ')}; it is tried again`;
  throw new AgentError({ op: 'unmount volumes', reason: first.reason, message, transient: true, cause: first });
}

/** Volumes given back: unmounted, and the contents of emptyDirs gone. @throws AgentError while something is mounted */
export async function tearDownVolumes(paths: HostPaths, uid: string, signal: AbortSignal): Promise<void> {
  await unmountVolumes(paths, uid, signal);
  await refuseMounted(paths, uid);
  await removeEmptyDirs(paths, uid);
  await removeContents(paths, uid);
}

/** Nothing below a pod's folder is deleted while anything is mounted there: it could be the data of others (B110). */
export async function refuseMounted(paths: HostPaths, uid: string): Promise<void> {
  const [first] = mountsBelow(await readMounts(), podDirectory(paths, uid));
  if (first)
    throw new AgentError({
      op: 'remove pod directory',
      reason: 'StillMounted',
      message: `pod ${uid}: ${first.path} is still mounted; nothing is deleted below it`,
      transient: true,
    });
}
