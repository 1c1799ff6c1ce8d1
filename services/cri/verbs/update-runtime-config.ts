import type { Cri } from '../client.ts';

/** UpdateRuntimeConfig: the addresses of pods on this node, one of each family, comma between. Idempotent. */
export async function updateRuntimeConfig(cri: Cri, podCIDR: string, signal?: AbortSignal): Promise<void> {
  const runtimeConfig = { networkConfig: { podCidr: podCIDR } };
  await cri.call('updateRuntimeConfig', { runtimeConfig }, { deadlineMs: cri.runtimeRequestTimeoutMs, signal });
}
