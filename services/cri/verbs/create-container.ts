import type { Cri } from '../client.ts';
import type { ContainerConfig, PodSandboxConfig } from '../proto/generated/cri.ts';

/**
 * CreateContainer in a sandbox.
 *
 * @returns the container's id
 * @throws AgentError `NameReserved` where another id holds this name and attempt
 */
export async function createContainer(
  cri: Cri,
  podSandboxId: string,
  config: ContainerConfig,
  sandboxConfig: PodSandboxConfig,
  signal?: AbortSignal,
): Promise<string> {
  const options = { deadlineMs: cri.runtimeRequestTimeoutMs, signal };
  return (await cri.call('createContainer', { podSandboxId, config, sandboxConfig }, options)).containerId;
}
