import { AgentError } from '../../../machines/agent-error.types.ts';
import type { DesiredPod, Volume } from '../../../machines/kubernetes.types.ts';
import { podDirectory } from '../directories.ts';
import { hostError } from '../effect.ts';
import type { HostPaths } from '../host.types.ts';
import { mountsBelow, readMounts, unmount } from '../mounts.ts';
import { emptyDirPath, removeEmptyDirs, setUpEmptyDir } from './empty-dir.ts';
import { checkHostPath } from './host-path.ts';

/** Every volume that a container uses, ready to be bound (volumemanager/volume_manager.go:getExpectedVolumes). */
export async function setUpVolumes(paths: HostPaths, pod: DesiredPod, signal: AbortSignal): Promise<void> {
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const used = new Set(containers.flatMap(({ volumeMounts }) => (volumeMounts ?? []).map(({ name }) => name)));
  for (const volume of pod.spec.volumes ?? []) {
    if (!used.has(volume.name)) continue;
    signal.throwIfAborted();
    try {
      if (volume.hostPath) await checkHostPath(volume.hostPath);
      else if (volume.emptyDir && isSupported(volume)) await setUpEmptyDir(paths, pod, volume, signal);
      else throw new Error('of its sources only hostPath and emptyDir (medium "" or "Memory") are supported');
    } catch (error) {
      throw mountError(volume.name, error);
    }
  }
}

const isSupported = ({ emptyDir }: Volume) => ['', 'Memory'].includes(emptyDir?.medium ?? '');

function mountError(volume: string, error: unknown): AgentError {
  const { message, transient } = hostError(error, 'mount volume');
  return new AgentError({
    op: `mount volume "${volume}"`,
    reason: 'FailedMount',
    message: `MountVolume.SetUp failed for volume "${volume}" : ${message}`,
    transient,
    cause: error,
  });
}

/** Where a volume of the pod is on the host. @throws AgentError where the spec has no such volume */
export function volumePath(paths: HostPaths, pod: DesiredPod, name: string): string {
  const volume = pod.spec.volumes?.find((candidate) => candidate.name === name);
  if (volume?.hostPath) return volume.hostPath.path;
  if (volume?.emptyDir) return emptyDirPath(paths, pod.metadata.uid, name);
  throw new AgentError({
    op: `bind volume "${name}"`,
    reason: 'CreateContainerConfigError',
    message: `volumeMounts name "${name}", of which spec.volumes has no supported volume`,
    transient: false,
  });
}

/** Mounts that need nothing but umount: tmpfs of the agent's or a kubelet's volumes, and sub-path binds. */
const PLAIN = /^\/(?:volumes\/kubernetes\.io~(?:empty-dir|secret|projected|downward-api)\/|volume-subpaths\/)/;

/**
 * Unmounts what the pod's volumes had mounted below the pod's folder. Mounts of other kinds (CSI and the like) need
 * their plugin and are left.
 */
export async function unmountVolumes(paths: HostPaths, uid: string, signal: AbortSignal): Promise<void> {
  const own = podDirectory(paths, uid);
  for (const mount of mountsBelow(await readMounts(), own)) {
    signal.throwIfAborted();
    if (PLAIN.test(mount.path.slice(own.length))) await unmount(mount.path, signal);
  }
}

/** Volumes given back: unmounted, and the contents of emptyDirs gone. @throws AgentError while something is mounted */
export async function tearDownVolumes(paths: HostPaths, uid: string, signal: AbortSignal): Promise<void> {
  await unmountVolumes(paths, uid, signal);
  await refuseMounted(paths, uid);
  await removeEmptyDirs(paths, uid);
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
