import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { Container, DesiredPod, VolumeMount } from '../../machines/kubernetes.types.ts';
import { containerDirectory } from './directories.ts';
import type { HostMount, HostPaths } from './host.types.ts';
import { volumeOf, volumePath } from './volumes/index.ts';
import { hasContent } from '../../machines/pod/policy/volume-content.ts';
import { makeDirectory } from './make-directory.ts';

const PROPAGATIONS = ['None', 'HostToContainer', 'Bidirectional'] as const;

/**
 * What CreateContainer binds: the volumes in the order of volumeMounts, then a new termination message file
 * (kuberuntime/kuberuntime_container.go:makeMounts).
 */
export async function prepareContainerFiles(
  paths: HostPaths,
  pod: DesiredPod,
  container: Container,
  attempt: number,
): Promise<HostMount[]> {
  const mounts = (container.volumeMounts ?? []).map((mount) => bind(paths, pod, container, mount));
  const containerPath = container.terminationMessagePath;
  if (!containerPath) return mounts;
  const directory = containerDirectory(paths, pod.metadata.uid, container.name);
  const hostPath = join(directory, fileName(attempt));
  await makeDirectory(directory, 0o750);
  await writeFile(hostPath, '', { mode: 0o666 });
  // Apart from the creation's mode, which the umask cuts.
  await chmod(hostPath, 0o666);
  // Only the newest two instances are ever reported, so a crash loop leaves no trail of files.
  if (attempt > 1) await rm(join(directory, fileName(attempt - 2)), { force: true });
  return [...mounts, { hostPath, containerPath, readOnly: false, recursiveReadOnly: false, propagation: 'None' }];
}

/** Eight hex digits, one name for each attempt: trying the same attempt again finds its own file. */
const fileName = (attempt: number) => attempt.toString(16).padStart(8, '0');

function bind(paths: HostPaths, pod: DesiredPod, container: Container, mount: VolumeMount): HostMount {
  const refuse = (field: string, why: string) =>
    new AgentError({
      op: 'prepare container',
      reason: 'CreateContainerConfigError',
      message: `container "${container.name}", volumeMount "${mount.name}": ${field} ${why}`,
      transient: false,
    });
  if (mount.subPath || mount.subPathExpr) throw refuse('subPath', 'is not supported yet');
  if (mount.recursiveReadOnly === 'Enabled')
    throw refuse('recursiveReadOnly', 'is not supported yet: accepted is Disabled');
  const propagation = PROPAGATIONS.find((known) => known === (mount.mountPropagation ?? 'None'));
  if (!propagation) throw refuse('mountPropagation', `must be one of ${PROPAGATIONS.join(', ')}`);
  return {
    hostPath: volumePath(paths, pod, mount.name),
    containerPath: mount.mountPath,
    // What the agent writes is nobody else's to change (kubelet_pods.go:makeMounts, mustMountRO).
    readOnly: (mount.readOnly ?? false) || hasContent(volumeOf(pod, mount.name)),
    recursiveReadOnly: false,
    propagation,
  };
}
