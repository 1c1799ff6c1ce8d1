import { posix } from 'node:path';
import type { QosClass } from '../../../machines/pod/policy/qos.ts';

/** Folder below kubepods that pods of a class are in; Guaranteed pods are in kubepods itself. */
const QOS_NAMES: Record<QosClass, string[]> = { Guaranteed: [], Burstable: ['burstable'], BestEffort: ['besteffort'] };

export const QOS_CLASSES = Object.keys(QOS_NAMES) as QosClass[];

/** Components of a class's cgroup below cgroupRoot: `kubepods`, `burstable`. */
export const qosCgroup = (qos: QosClass): string[] => ['kubepods', ...QOS_NAMES[qos]];

/** Components of a pod's cgroup below cgroupRoot (cm/pod_container_manager_linux.go:GetPodContainerName). */
export const podCgroup = (qos: QosClass, uid: string): string[] => [...qosCgroup(qos), `pod${uid}`];

/** `/kubepods/burstable/pod<uid>` below cgroupRoot (cm/cgroup_manager_linux.go:ToCgroupfs). */
export function cgroupfsPath(root: string, components: readonly string[]): string {
  return posix.join('/', root, ...components);
}

/**
 * `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice`, `-` in a component being `_`
 * (cm/cgroup_manager_linux.go:ToSystemd).
 */
export function systemdPath(root: string, components: readonly string[]): string {
  const above = root.split('/').filter(Boolean);
  const escaped = [...above, ...components].map((name) => name.replaceAll('-', '_'));
  return `/${escaped.map((_name, index) => `${escaped.slice(0, index + 1).join('-')}.slice`).join('/')}`;
}
