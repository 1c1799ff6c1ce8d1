import type { Container, DesiredPod } from '../../machines/kubernetes.types.ts';
import type { CurrentSandbox } from '../../machines/pod/container.types.ts';
import { containerEnvironment } from '../../machines/pod/policy/environment.ts';
import type { EnvironmentVariable } from '../../machines/pod/policy/expand.ts';
import { environmentReferences } from '../../machines/pod/policy/object-references.ts';
import { sortedIPs } from '../../machines/pod/policy/pod-ips.ts';
import type { ConfigObjects } from './objects/objects.types.ts';

export interface EnvironmentSources {
  /** The Node's, by resource name. */
  allocatable: Readonly<Record<string, string>>;
  /** Undefined without an API server: no pod may refer to its objects then. */
  objects: Pick<ConfigObjects, 'read'> | undefined;
}

/**
 * Makes the environments of containers, of objects as they are when the container is created.
 *
 * @returns a function that rejects with the kubelet's words where an object or a key is missing; they hold no value
 */
export function environmentReader({ allocatable, objects }: EnvironmentSources) {
  return async (
    pod: DesiredPod,
    container: Container,
    { ips, hostIPs }: Pick<CurrentSandbox, 'ips' | 'hostIPs'>,
    signal: AbortSignal,
  ): Promise<EnvironmentVariable[]> => {
    const references = environmentReferences(container);
    const found = await objects?.read(pod.metadata.namespace, references, signal);
    return containerEnvironment(container, {
      pod,
      podIPs: pod.spec.hostNetwork ? hostIPs : sortedIPs(ips, hostIPs[0]),
      hostIPs,
      allocatable,
      objects: found ?? (() => undefined),
      services: new Map(),
    });
  };
}
