import type { Cri } from '../client.ts';
import type { Container } from '../proto/generated/cri.ts';

/** ListContainers in every state: all, the one of an id, or those that bear every one of the labels. */
export async function listContainers(
  cri: Cri,
  { id = '', labels = {} }: { id?: string; labels?: Record<string, string> },
  signal?: AbortSignal,
): Promise<Container[]> {
  const filter = { id, state: undefined, podSandboxId: '', labelSelector: labels };
  const options = { deadlineMs: cri.runtimeRequestTimeoutMs, signal };
  return (await cri.call('listContainers', { filter }, options)).containers;
}
