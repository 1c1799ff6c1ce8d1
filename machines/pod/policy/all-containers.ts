import type { Container, PodSpec } from '../../kubernetes.types.ts';

/** A pod's containers in the order in which they start: init containers with the sidecars among them, then the others. */
export function allContainers({ initContainers, containers }: PodSpec): Container[] {
  return [...(initContainers ?? []), ...containers];
}
