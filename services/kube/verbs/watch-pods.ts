import type { Pod } from '../../../machines/kubernetes.types.ts';
import type { Kube, WatchEvent } from '../client.ts';
import { PODS } from './paths.ts';
import { watchQuery, type WatchFrom } from './watch-query.ts';

/**
 * What happens to the node's pods after a resourceVersion. Resolves when the server ends it.
 *
 * @throws AgentError `Expired` where the server has no more what happened since
 */
export function watchPods(
  kube: Kube,
  { nodeName, ...from }: WatchFrom & { nodeName: string },
  onEvent: (event: WatchEvent<Pod>) => void,
  signal: AbortSignal,
): Promise<void> {
  const query = { fieldSelector: `spec.nodeName=${nodeName}`, ...watchQuery(from) };
  return kube.watch<Pod>({ op: 'watch pods', path: PODS, query, onEvent, signal });
}
