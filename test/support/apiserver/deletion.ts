import { dictAt, textAt, time } from './objects.ts';
import type { KubeObject } from './objects.ts';
import type { Resource } from './resources.ts';

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: string;
}

/**
 * What a DELETE makes of an object: the object as it stands afterwards and whether it is gone.
 * Source: apiserver registry/rest/delete.go:BeforeDelete, registry/core/pod/strategy.go:CheckGracefulDelete.
 */
export function graceful(
  resource: Resource,
  current: KubeObject,
  options: DeleteOptions,
  now: number,
): { marked: KubeObject; gone: boolean } {
  const finalizers = Boolean(current.metadata.finalizers?.length);
  if (resource.kind === 'Namespace') return { marked: terminating(current, now), gone: false };
  if (resource.kind !== 'Pod') {
    if (!finalizers) return { marked: current, gone: true };
    return { marked: current.metadata.deletionTimestamp ? current : mark(current, 0, now), gone: false };
  }
  const { deletionTimestamp, deletionGracePeriodSeconds: before } = current.metadata;
  if (deletionTimestamp && before !== undefined) {
    const asked = options.gracePeriodSeconds;
    if (asked === undefined || asked >= before) return { marked: current, gone: false };
    // The end is counted from when deletion was first asked for, and comes only nearer.
    const start = Date.parse(deletionTimestamp) - before * 1000;
    return { marked: mark(current, asked, start, false), gone: asked === 0 && !finalizers };
  }
  const grace = podGrace(current, options.gracePeriodSeconds);
  return { marked: mark(current, grace, now), gone: grace === 0 && !finalizers };
}

function podGrace(pod: KubeObject, asked: number | undefined): number {
  const spec = dictAt(structuredClone(pod), 'spec');
  if (!textAt(spec, 'nodeName')) return 0;
  if (/^(Failed|Succeeded)$/.test(textAt(pod, 'status.phase'))) return 0;
  const grace = asked ?? Number(spec['terminationGracePeriodSeconds'] ?? 30);
  return grace < 0 ? 1 : grace;
}

function mark(object: KubeObject, grace: number, now: number, first = true): KubeObject {
  const { generation } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      deletionTimestamp: time(now + grace * 1000),
      deletionGracePeriodSeconds: grace,
      ...(first && generation !== undefined && { generation: generation + 1 }),
    },
  };
}

/** A namespace goes when its content has gone (controllers.ts). */
function terminating(namespace: KubeObject, now: number): KubeObject {
  if (namespace.metadata.deletionTimestamp) return namespace;
  const { metadata } = namespace;
  return { ...namespace, metadata: { ...metadata, deletionTimestamp: time(now) }, status: { phase: 'Terminating' } };
}
