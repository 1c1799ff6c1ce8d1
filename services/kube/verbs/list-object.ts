import type { ConfigObject } from '../../../machines/pod/objects.types.ts';
import type { Kube } from '../client.ts';
import type { ObjectKey } from '../objects/objects.types.ts';
import { objectsPath } from './paths.ts';

/** One ConfigMap or Secret as a list, with the resourceVersion that a watch of it begins with; nodes may list by name only. */
export async function listObject(
  kube: Kube,
  { kind, namespace, name }: ObjectKey,
  signal: AbortSignal,
): Promise<{ resourceVersion: string; object: ConfigObject | undefined }> {
  const { metadata, items } = await kube.request<{ metadata?: { resourceVersion?: string }; items?: ConfigObject[] }>({
    op: `list ${kind}`,
    method: 'GET',
    path: objectsPath(`${kind.toLowerCase()}s`, namespace),
    query: { fieldSelector: `metadata.name=${name}` },
    signal,
  });
  return { resourceVersion: metadata?.resourceVersion ?? '', object: items?.[0] };
}
