import type { Pod } from '../../../machines/kubernetes.types.ts';
import type { Kube } from '../client.ts';
import { hasReason } from '../errors.ts';
import { podPath } from './paths.ts';

/** The pod of this name as the store has it, or undefined where there is none. */
export async function getPod(
  kube: Kube,
  { namespace, name }: { namespace: string; name: string },
  signal?: AbortSignal,
): Promise<Pod | undefined> {
  try {
    return await kube.request<Pod>({ op: 'get pod', method: 'GET', path: podPath(namespace, name), signal });
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
