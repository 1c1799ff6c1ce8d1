import type { Cri } from '../client.ts';
import type { PodSandboxConfig } from '../proto/generated/cri.ts';

/**
 * RunPodSandbox, with twice the usual time because it sets up the network (cri-client remote_runtime.go:RunPodSandbox).
 *
 * @returns the sandbox's id
 */
export async function runPodSandbox(cri: Cri, config: PodSandboxConfig, signal?: AbortSignal): Promise<string> {
  const options = { deadlineMs: 2 * cri.runtimeRequestTimeoutMs, signal };
  return (await cri.call('runPodSandbox', { config, runtimeHandler: '' }, options)).podSandboxId;
}
