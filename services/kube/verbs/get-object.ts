import type { ConfigObject } from '../../../machines/pod/objects.types.ts';
import type { Kube } from '../client.ts';
import { hasReason } from '../errors.ts';
import type { ObjectKey } from '../objects/objects.types.ts';
import { objectsPath } from './paths.ts';

/** A ConfigMap or Secret, or undefined where there is none. */
export async function getObject(
  kube: Kube,
  { kind, namespace, name }: ObjectKey,
  signal?: AbortSignal,
): Promise<ConfigObject | undefined> {
  try {
    return await kube.request<ConfigObject>({
      op: `get ${kind}`,
      method: 'GET',
      path: `${objectsPath(`${kind.toLowerCase()}s`, namespace)}/${encodeURIComponent(name)}`,
      signal,
    });
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
