import type { AgentView, PodView } from './server.types.ts';

interface Kept extends PodView {
  text: string;
}

/**
 * The body of `/pods`: a v1 PodList without list metadata. A pod is serialised again only when it or its status is
 * another object than last time, and the whole body only when any of them is: polling costs a comparison a pod.
 */
export function podListBody(view: Pick<AgentView, 'pods'>): () => Buffer {
  let kept: Kept[] = [];
  let body = list([]);
  return () => {
    const pods = view.pods();
    if (pods.length === kept.length && pods.every((p, i) => same(p, kept[i]))) return body;
    const before = new Map(kept.map((k) => [k.pod.metadata?.uid, k]));
    kept = pods.map(({ pod, status }) => {
      const old = before.get(pod.metadata?.uid);
      return old && same({ pod, status }, old) ? old : { pod, status, text: serialise({ pod, status }) };
    });
    body = list(kept);
    return body;
  };
}

function same(a: PodView, b: PodView | undefined): boolean {
  return a.pod === b?.pod && a.status === b.status;
}

/** Items of a list carry no kind of their own. */
function serialise({ pod, status }: PodView): string {
  const { metadata, spec } = pod;
  return JSON.stringify({ metadata, spec, status: status ?? pod.status ?? {} });
}

function list(items: readonly Kept[]): Buffer {
  return Buffer.from(
    `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[${items.map((i) => i.text).join(',')}]}\n`,
  );
}
