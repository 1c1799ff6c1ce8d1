import type { Kube, WatchEvent } from '../client.ts';
import type { ServiceObject } from '../objects/objects.types.ts';
import { SERVICES } from './paths.ts';
import { watchQuery, type WatchFrom } from './watch-query.ts';

/**
 * What happens to the cluster's Services after a resourceVersion. Resolves when the server ends it.
 *
 * @throws AgentError `Expired` where the server has no more what happened since
 */
export function watchServices(
  kube: Kube,
  from: WatchFrom,
  onEvent: (event: WatchEvent<ServiceObject>) => void,
  signal: AbortSignal,
): Promise<void> {
  return kube.watch<ServiceObject>({ op: 'watch Service', path: SERVICES, query: watchQuery(from), onEvent, signal });
}
