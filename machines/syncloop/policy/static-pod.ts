import type { DesiredPod, Pod, PodSpec } from '../../kubernetes.types.ts';
import { fnv1a128 } from '../../pod/policy/fnv.ts';
import { CONFIG_HASH_ANNOTATION, CONFIG_SEEN_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from '../../pod/policy/names.ts';

export interface StaticPodOrigin {
  source: 'file' | 'http';
  /** Path or URL. */
  origin: string;
  nodeName: string;
  /** When it was first seen, RFC 3339. */
  seen?: string;
}

/** What a static pod must not have: its object is in no API, so nothing of it can be looked up or deleted there. */
export function staticPodProblems({ metadata, spec }: Pod): string[] {
  const problems: string[] = [];
  for (const field of ['serviceAccountName', 'serviceAccount'] as const) {
    if (spec?.[field]) problems.push(`spec.${field}: a static pod may not refer to API objects`);
  }
  problems.push(...apiReferences(spec).map((path) => `${path}: a static pod may not refer to API objects`));
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (metadata?.[field] !== undefined) problems.push(`metadata.${field}: is not accepted in a manifest`);
  }
  return problems;
}

/** Fields that name a ConfigMap, a Secret or a token of the API (pkg/api/pod/util.go:HasAPIObjectReference). */
function apiReferences(spec: PodSpec | undefined): string[] {
  const found: string[] = [];
  const check = (path: string, source: object | undefined, ...fields: string[]) =>
    found.push(...fields.filter((field) => source && field in source).map((field) => `${path}.${field}`));
  const lists = { initContainers: spec?.initContainers ?? [], containers: spec?.containers ?? [] };
  for (const [list, containers] of Object.entries(lists))
    for (const [i, { env = [], envFrom = [] }] of containers.entries()) {
      const path = `spec.${list}[${i}]`;
      for (const [k, { valueFrom }] of env.entries())
        check(`${path}.env[${k}].valueFrom`, valueFrom, 'configMapKeyRef', 'secretKeyRef');
      for (const [k, source] of envFrom.entries()) check(`${path}.envFrom[${k}]`, source, 'configMapRef', 'secretRef');
    }
  for (const [i, volume] of (spec?.volumes ?? []).entries()) {
    check(`spec.volumes[${i}]`, volume, 'configMap', 'secret');
    for (const [k, source] of (volume.projected?.sources ?? []).entries())
      check(`spec.volumes[${i}].projected.sources[${k}]`, source, 'configMap', 'secret', 'serviceAccountToken');
  }
  return found;
}

/** `<name>-<node name in lower case>`: static pods of many nodes share one API. */
export function staticPodName(name: string, nodeName: string): string {
  return `${name}-${nodeName.toLowerCase()}`;
}

/**
 * A manifest's pod with what makes it this node's: name, namespace, node, UID, annotations and, from a file, the
 * toleration of every NoExecute taint (config/common.go:applyDefaults). A UID that is not given follows from the
 * content, the node and the origin, so that it changes whenever the manifest does.
 */
export function asStaticPod(pod: Pod & { spec: PodSpec }, from: StaticPodOrigin): DesiredPod {
  const { metadata = {}, spec } = pod;
  const uid = metadata.uid || contentUid(pod, from);
  const annotations = {
    ...metadata.annotations,
    [CONFIG_HASH_ANNOTATION]: uid,
    [CONFIG_SOURCE_ANNOTATION]: from.source,
    ...(from.seen && { [CONFIG_SEEN_ANNOTATION]: from.seen }),
  };
  const toleration = { operator: 'Exists', effect: 'NoExecute' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      name: staticPodName(metadata.name ?? '', from.nodeName),
      namespace: metadata.namespace || 'default',
      uid,
      annotations,
    },
    spec: {
      ...spec,
      nodeName: from.nodeName,
      ...(from.source === 'file' && { tolerations: [...(spec.tolerations ?? []), toleration] }),
    },
  };
}

function contentUid(pod: Pod, { source, origin, nodeName }: StaticPodOrigin): string {
  const { metadata, spec } = pod;
  const text = `${canonical({ metadata, spec })}\nhost:${nodeName}\n${source === 'file' ? 'file' : 'url'}:${origin}`;
  return fnv1a128(new TextEncoder().encode(text));
}

/** JSON with sorted keys: order and layout of a manifest mean nothing. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
