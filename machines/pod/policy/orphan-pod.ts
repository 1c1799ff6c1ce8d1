import type { Container, DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedPod } from '../../runtime.types.ts';
import { CONFIG_SOURCE_ANNOTATION } from './names.ts';

/**
 * The least that can be said of a pod whose object is gone: its names, where it came from, and its containers by name and image, as their
 * labels tell (kuberuntime_container.go:restoreSpecsFromContainerLabels). Good enough to stop and remove it.
 */
export function orphanPod(observed: ObservedPod): DesiredPod {
  const containers = new Map<string, Container>();
  for (const { name, image } of observed.containers) if (!containers.has(name)) containers.set(name, { name, image });
  const source = observed.sandboxes[0]?.source;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      uid: observed.uid,
      name: observed.name,
      namespace: observed.namespace,
      ...(source && { annotations: { [CONFIG_SOURCE_ANNOTATION]: source } }),
    },
    spec: { containers: [...containers.values()], restartPolicy: 'Never' },
  };
}
