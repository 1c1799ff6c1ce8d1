import type { Pod } from '../../../machines/kubernetes.types.ts';
import type { Kube, WatchEvent } from '../client.ts';
import { PODS } from './paths.ts';

/** A watch lasts between this and twice as long, s, so that not all nodes begin anew at once (client-go reflector). */
const SHORTEST_S = 300;

/**
 * What happens to the node's pods after a resourceVersion, with bookmarks. Resolves when the server ends it.
 *
 * @param random uniform in [0, 1)
 * @throws AgentError `Expired` where the server has no more what happened since
 */
export function watchPods(
  kube: Kube,
  { nodeName, resourceVersion, random }: { nodeName: string; resourceVersion: string; random: number },
  onEvent: (event: WatchEvent<Pod>) => void,
  signal: AbortSignal,
): Promise<void> {
  return kube.watch<Pod>({
    op: 'watch pods',
    path: PODS,
    query: {
      fieldSelector: `spec.nodeName=${nodeName}`,
      resourceVersion,
      allowWatchBookmarks: true,
      timeoutSeconds: Math.round(SHORTEST_S * (1 + random)),
    },
    onEvent,
    signal,
  });
}
