import type { Container, DesiredPod, Volume } from '../../machines/kubernetes.types.ts';
import type { VolumeFile } from '../../machines/pod/policy/volume-content.ts';
import type { PodRef } from '../../machines/pod/pod.types.ts';

/** Where things live on the node; every path is absolute. */
export interface HostPaths {
  /** --root-dir, default /var/lib/kubelet. */
  rootDir: string;
  /** podLogsDir, default /var/log/pods. */
  podLogsDir: string;
  /** Legacy links <pod>_<namespace>_<container>-<id>.log; undefined: none are made. Default /var/log/containers. */
  containerLogsDir?: string;
}

export interface CgroupSettings {
  /** cgroupsPerQOS. Off: no pod cgroup is made and the sandbox gets no cgroup parent. */
  perQos: boolean;
  /** cgroupRoot, default "/". */
  root: string;
  driver: 'cgroupfs' | 'systemd';
  cpuCFSQuota: boolean;
  /** Microseconds. */
  cpuCFSQuotaPeriod: number;
  /** podPidsLimit; -1 for none. */
  podPidsLimit: number;
}

/** A bind mount into a container, before it becomes a CRI Mount. */
export interface HostMount {
  hostPath: string;
  containerPath: string;
  readOnly: boolean;
  recursiveReadOnly: boolean;
  propagation: 'None' | 'HostToContainer' | 'Bidirectional';
}

export interface PreparedContainer {
  /** volumeMounts in spec order, then the termination message file. */
  mounts: HostMount[];
}

/**
 * What pods need of the node. Every call is idempotent, has a deadline, rejects with AgentError and takes an abort signal.
 */
export interface PodHost {
  /** cgroup_parent for the sandbox; undefined where cgroupsPerQOS is off. */
  cgroupParent(pod: DesiredPod): string | undefined;
  /** <podLogsDir>/<namespace>_<name>_<uid>, the uid being config.hash for static pods as the kubelet has it. */
  logDirectory(pod: DesiredPod): string;
  ensureCgroup(pod: DesiredPod, signal: AbortSignal): Promise<void>;
  makeDirectories(pod: DesiredPod, signal: AbortSignal): Promise<{ highestLogAttempt: Record<string, number> }>;
  /** @param files what the volume shows, where the agent writes that */
  mountVolume(pod: DesiredPod, volume: Volume, files: readonly VolumeFile[], signal: AbortSignal): Promise<void>;
  /** Container directory, termination message file, sub-paths: all that CreateContainer binds. */
  prepareContainer(
    pod: DesiredPod,
    container: Container,
    attempt: number,
    signal: AbortSignal,
  ): Promise<PreparedContainer>;
  /** Legacy log link after start; harmless where it is there already. */
  linkContainerLog(pod: DesiredPod, container: Container, attempt: number, id: string): Promise<void>;
  /**
   * The termination message of an exited container: the file, or by policy the tail of the log (80 lines / 2048 bytes),
   * cut to 4096 bytes and to the pod's share. `hostPath` is the file's path from the container's mounts.
   */
  terminationMessage(input: {
    hostPath?: string;
    policy: string;
    exitCode: number;
    logPath: string;
    maxBytes: number;
  }): Promise<string>;
  /** Volumes unmounted, cgroup removed (by uid in every QoS class where the pod is unknown). */
  releasePod(ref: PodRef, pod: DesiredPod | undefined, signal: AbortSignal, leftovers?: 'keep' | 'kill'): Promise<void>;
  /** Log file of one removed container instance, its rotated files and its link. */
  removeContainerLog(id: string, logPath: string): Promise<void>;
  /** Pod directory and log directory. Refuses (AgentError) while anything below the pod directory is still mounted. */
  removePodData(ref: PodRef, pod: DesiredPod | undefined, signal: AbortSignal): Promise<void>;
  /** Pod directories, log directories and cgroups of pods not in `keep`; answers what was removed. */
  sweep(keep: ReadonlySet<string>, signal: AbortSignal): Promise<string[]>;
}

/** The part of a pino logger that the host uses. */
export interface HostLogger {
  warn(fields: object, message: string): void;
}
