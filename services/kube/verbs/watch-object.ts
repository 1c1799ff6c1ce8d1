import type { ConfigObject } from '../../../machines/pod/objects.types.ts';
import type { Kube, WatchEvent } from '../client.ts';
import type { ObjectKey } from '../objects/objects.types.ts';
import { objectsPath } from './paths.ts';

/** Shortest time that a watch lasts, s (util/manager/watch_based_manager.go: minWatchTimeout). */
const SHORTEST_S = 1800;

/**
 * What happens to one ConfigMap or Secret after a resourceVersion, with bookmarks. Resolves when the server ends it.
 *
 * @param random uniform in [0, 1)
 * @throws AgentError `Expired` where the server has no more what happened since
 */
export function watchObject(
  kube: Kube,
  { kind, namespace, name }: ObjectKey,
  { resourceVersion, random }: { resourceVersion: string; random: number },
  onEvent: (event: WatchEvent<ConfigObject>) => void,
  signal: AbortSignal,
): Promise<void> {
  return kube.watch<ConfigObject>({
    op: `watch ${kind}`,
    path: objectsPath(`${kind.toLowerCase()}s`, namespace),
    query: {
      fieldSelector: `metadata.name=${name}`,
      resourceVersion,
      allowWatchBookmarks: true,
      timeoutSeconds: Math.round(SHORTEST_S * (1 + random)),
    },
    onEvent,
    signal,
  });
}
