import type { Container, DesiredPod } from '../../machines/kubernetes.types.ts';
import type { CurrentSandbox } from '../../machines/pod/container.types.ts';
import { containerEnvironment } from '../../machines/pod/policy/environment.ts';
import type { EnvironmentVariable } from '../../machines/pod/policy/expand.ts';
import { environmentReferences } from '../../machines/pod/policy/object-references.ts';
import { sortedIPs } from '../../machines/pod/policy/pod-ips.ts';
import { serviceVariables } from '../../machines/pod/policy/service-variables.ts';
import type { ConfigObjects, NodeServices } from './objects/objects.types.ts';

export interface EnvironmentSources {
  /** The Node's, by resource name. */
  allocatable: Readonly<Record<string, string>>;
  /** Undefined without an API server: no pod may refer to its objects then. */
  objects: Pick<ConfigObjects, 'read'> | undefined;
  /** Undefined without an API server: there are none then. */
  services: Pick<NodeServices, 'read'> | undefined;
}

/**
 * Makes the environments of containers, of objects as they are when the container is created.
 *
 * @returns a function that rejects with the kubelet's words where an object or a key is missing; they hold no value
 */
export function environmentReader({ allocatable, objects, services }: EnvironmentSources) {
  return async (
    pod: DesiredPod,
    container: Container,
    { ips, hostIPs }: Pick<CurrentSandbox, 'ips' | 'hostIPs'>,
    signal: AbortSignal,
  ): Promise<EnvironmentVariable[]> => {
    // As the kubelet does before all else.
    const seen = (await services?.read(pod, signal)) ?? [];
    const references = environmentReferences(container);
    const { namespace } = pod.metadata;
    const found = await objects?.read(namespace, references, signal);
    return containerEnvironment(container, {
      pod,
      podIPs: pod.spec.hostNetwork ? hostIPs : sortedIPs(ips, hostIPs[0]),
      hostIPs,
      allocatable,
      objects: found ?? (() => undefined),
      services: serviceVariables(seen, { namespace, enableServiceLinks: pod.spec.enableServiceLinks ?? true }),
    });
  };
}
