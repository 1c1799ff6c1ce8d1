import type { ContainerConfig, PodSandboxConfig } from '../proto/generated/cri.ts';

/** containerd's name of a sandbox: `pod_namespace_uid_attempt`. */
export function sandboxName(config: PodSandboxConfig): string {
  return `${podName(config)}_${config.metadata?.attempt ?? 0}`;
}

/** containerd's name of a container: `container_pod_namespace_uid_attempt`, the attempt being the container's. */
export function containerName(sandbox: PodSandboxConfig, config: ContainerConfig): string {
  return `${config.metadata?.name ?? ''}_${podName(sandbox)}_${config.metadata?.attempt ?? 0}`;
}

function podName({ metadata }: PodSandboxConfig): string {
  return [metadata?.name ?? '', metadata?.namespace ?? '', metadata?.uid ?? ''].join('_');
}
