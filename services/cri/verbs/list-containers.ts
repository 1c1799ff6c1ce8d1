import type { Cri } from '../client.ts';
import type { Container, ContainerState } from '../proto/generated/cri.ts';

/** ListContainers, in every state where none is given: all, the one of an id, or those that bear every one of the labels. */
export async function listContainers(
  cri: Cri,
  { id = '', labels = {}, state }: { id?: string; labels?: Record<string, string>; state?: ContainerState },
  signal?: AbortSignal,
): Promise<Container[]> {
  const filter = { id, state: state === undefined ? undefined : { state }, podSandboxId: '', labelSelector: labels };
  const options = { deadlineMs: cri.runtimeRequestTimeoutMs, signal };
  return (await cri.call('listContainers', { filter }, options)).containers;
}
