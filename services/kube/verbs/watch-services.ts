import type { Kube, WatchEvent } from '../client.ts';
import type { ServiceObject } from '../objects/objects.types.ts';
import { SERVICES } from './paths.ts';

/** A watch lasts between this and twice as long, s (client-go reflector). */
const SHORTEST_S = 300;

/**
 * What happens to the cluster's Services after a resourceVersion, with bookmarks. Resolves when the server ends it.
 *
 * @param random uniform in [0, 1)
 * @throws AgentError `Expired` where the server has no more what happened since
 */
export function watchServices(
  kube: Kube,
  { resourceVersion, random }: { resourceVersion: string; random: number },
  onEvent: (event: WatchEvent<ServiceObject>) => void,
  signal: AbortSignal,
): Promise<void> {
  return kube.watch<ServiceObject>({
    op: 'watch Service',
    path: SERVICES,
    query: {
      resourceVersion,
      allowWatchBookmarks: true,
      timeoutSeconds: Math.round(SHORTEST_S * (1 + random)),
    },
    onEvent,
    signal,
  });
}
