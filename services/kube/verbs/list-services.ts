import type { Kube } from '../client.ts';
import type { ServiceObject } from '../objects/objects.types.ts';
import { SERVICES } from './paths.ts';

/** Services of one answer: to read one of some thousand takes as long as a pod's probe may wait. */
const PAGE = 250;

interface Page {
  metadata?: { resourceVersion?: string; continue?: string };
  items?: ServiceObject[];
}

/** Every Service of the cluster, as the store has it, page by page; answers the resourceVersion that a watch begins with. */
export async function listServices(
  kube: Kube,
  onPage: (items: ServiceObject[]) => void,
  signal: AbortSignal,
): Promise<string> {
  for (let from: string | undefined; ;) {
    const { metadata, items }: Page = await kube.request<Page>({
      op: 'list Service',
      method: 'GET',
      path: SERVICES,
      query: { limit: PAGE, continue: from },
      signal,
    });
    onPage(items ?? []);
    from = metadata?.continue || undefined;
    if (from === undefined) return metadata?.resourceVersion ?? '';
  }
}
