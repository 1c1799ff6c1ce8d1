import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { DesiredPod } from '../../machines/kubernetes.types.ts';
import { logDirectoryName } from '../../machines/pod/policy/names.ts';
import { ifThere } from './effect.ts';
import type { HostPaths } from './host.types.ts';
import { makeDirectory } from './make-directory.ts';
import { allContainers } from '../../machines/pod/policy/all-containers.ts';

/** Mode of the agent's own folders (kubelet.go:setupDataDirs, kubelet_pods.go:makePodDataDirs). */
const PRIVATE = 0o750;
/** Mode of log folders, which log collectors read. */
const PUBLIC = 0o755;

/** One path component and nothing else: a UID or name that would lead elsewhere never becomes a path. */
export function component(name: string, what: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._~-]*$/.test(name)) return name;
  throw new AgentError({
    op: 'make path',
    reason: 'InvalidName',
    message: `${what} ${JSON.stringify(name)} cannot be a file name: accepted are letters, digits, ".", "_", "-" and "~"`,
    transient: false,
  });
}

/** <rootDir>/pods: every pod's folder is below. */
export const podsDirectory = (paths: HostPaths) => join(paths.rootDir, 'pods');

/** <rootDir>/pods/<uid> (kubelet_getters.go:getPodDir). */
export const podDirectory = (paths: HostPaths, uid: string) => join(podsDirectory(paths), component(uid, 'pod UID'));

/** `/` in a plugin's name becomes `~` (k8s.io/utils/strings.EscapeQualifiedName). */
const escapePlugin = (plugin: string) => plugin.replaceAll('/', '~');

/** <pod>/volumes/<plugin~escaped>/<volume> (kubelet_getters.go:getPodVolumeDir). */
export function volumeDirectory(paths: HostPaths, uid: string, plugin: string, volume: string): string {
  return join(podDirectory(paths, uid), 'volumes', escapePlugin(plugin), component(volume, 'volume'));
}

/** <pod>/plugins/<plugin~escaped>/<volume>: what a volume plugin notes of a volume. */
export function pluginDirectory(paths: HostPaths, uid: string, plugin: string, volume: string): string {
  return join(podDirectory(paths, uid), 'plugins', escapePlugin(plugin), component(volume, 'volume'));
}

/** <pod>/containers/<container> (kubelet_getters.go:getPodContainerDir). */
export function containerDirectory(paths: HostPaths, uid: string, container: string): string {
  return join(podDirectory(paths, uid), 'containers', component(container, 'container'));
}

/** <podLogsDir>/<namespace>_<name>_<uid>. */
export function podLogDirectory(paths: HostPaths, pod: Parameters<typeof logDirectoryName>[0]): string {
  return join(paths.podLogsDir, component(logDirectoryName(pod), 'log directory'));
}

/**
 * The folders of a pod: its own with volumes, plugins and one per container, and its log folders.
 *
 * @returns the highest attempt that a log file bears, by container; -1 where there is none (B089: what the runtime
 *   forgot is still on disk, kuberuntime/kuberuntime_container.go:startContainer)
 */
export async function makePodDirectories(paths: HostPaths, pod: DesiredPod): Promise<Record<string, number>> {
  const { uid } = pod.metadata;
  const own = podDirectory(paths, uid);
  const logs = podLogDirectory(paths, pod);
  const containers = allContainers(pod.spec).map(({ name }) => name);
  await Promise.all([makeDirectory(own, PRIVATE), makeDirectory(paths.podLogsDir, PRIVATE)]);
  await Promise.all([
    ...[
      join(own, 'volumes'),
      join(own, 'plugins'),
      ...containers.map((name) => containerDirectory(paths, uid, name)),
    ].map((path) => makeDirectory(path, PRIVATE)),
    ...containers.map((name) => makeDirectory(join(logs, component(name, 'container')), PUBLIC)),
  ]);
  const highest = await Promise.all(containers.map((name) => highestAttempt(join(logs, name))));
  return Object.fromEntries(containers.map((name, index) => [name, highest[index] ?? -1]));
}

/** Highest `<n>` of `<n>.log` and its rotated files in a container's log folder; -1 for none. */
async function highestAttempt(directory: string): Promise<number> {
  const names = (await ifThere(readdir(directory))) ?? [];
  const attempts = names.map((name) => /^(\d{1,9})\.log(?:\.|$)/.exec(name)?.[1]);
  return attempts.reduce((highest, attempt) => Math.max(highest, Number(attempt ?? -1)), -1);
}
