import type { Pod, PodList } from '../../../machines/kubernetes.types.ts';
import type { Kube } from '../client.ts';
import { PODS } from './paths.ts';

/** A list of some thousand pods over a slow line. */
const DEADLINE_MS = 60_000;

/**
 * Every pod bound to the node. Without a resourceVersion the API server answers with what the store has now, never with
 * what a cache had.
 */
export async function listPods(
  kube: Kube,
  nodeName: string,
  signal?: AbortSignal,
): Promise<{ resourceVersion: string; items: Pod[] }> {
  const { metadata, items } = await kube.request<PodList>({
    op: 'list pods',
    method: 'GET',
    path: PODS,
    query: { fieldSelector: `spec.nodeName=${nodeName}` },
    deadlineMs: DEADLINE_MS,
    signal,
  });
  return { resourceVersion: metadata?.resourceVersion ?? '', items };
}
