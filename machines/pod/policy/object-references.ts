import type { Container, DesiredPod, Volume } from '../../kubernetes.types.ts';
import type { ConfigObject, ObjectLookup, ObjectReference } from '../objects.types.ts';
import { allContainers } from './all-containers.ts';

/** ConfigMaps and Secrets that a container's environment is made of, each once. */
export function environmentReferences({ env = [], envFrom = [] }: Container): ObjectReference[] {
  return unique([
    ...envFrom.flatMap(({ configMapRef, secretRef }) => [
      ...named('ConfigMap', configMapRef?.name),
      ...named('Secret', secretRef?.name),
    ]),
    ...env.flatMap(({ valueFrom }) => [
      ...named('ConfigMap', valueFrom?.configMapKeyRef?.name),
      ...named('Secret', valueFrom?.secretKeyRef?.name),
    ]),
  ]);
}

/** ConfigMaps and Secrets that a volume shows, each once. */
export function volumeReferences({ configMap, secret, projected }: Volume): ObjectReference[] {
  return unique([
    ...named('ConfigMap', configMap?.name),
    ...named('Secret', secret?.secretName),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...named('ConfigMap', source.configMap?.name),
      ...named('Secret', source.secret?.name),
    ]),
  ]);
}

/** Every ConfigMap and Secret that the pod uses, each once (util/manager/watch_based_manager.go: one watch for each). */
export function podReferences({ spec }: DesiredPod): ObjectReference[] {
  return unique([
    ...allContainers(spec).flatMap(environmentReferences),
    ...(spec.volumes ?? []).flatMap(volumeReferences),
  ]);
}

/**
 * The object, or undefined where it is optional and not there.
 *
 * @throws Error `configmap "x" not found`, as a kubelet's cache says it
 */
export function requiredObject(
  objects: ObjectLookup,
  reference: ObjectReference,
  optional: boolean | undefined,
): ConfigObject | undefined {
  const object = objects(reference);
  if (object || optional) return object;
  throw new Error(`${reference.kind.toLowerCase()} "${reference.name}" not found`);
}

const named = (kind: ObjectReference['kind'], name: string | undefined): ObjectReference[] =>
  name ? [{ kind, name }] : [];

function unique(references: ObjectReference[]): ObjectReference[] {
  return [...new Map(references.map((reference) => [`${reference.kind}/${reference.name}`, reference])).values()];
}
