import type { LiveActor, LiveSystem } from '../live/live.types.ts';
import type { Target } from './explain.types.ts';

/** `pod=default/web`, `container=default/web/app` or `node`; undefined: none of them. */
export function targetOf(query: URLSearchParams): Target | undefined {
  const [pod, container] = [query.get('pod'), query.get('container')];
  const [namespace = '', name = '', own = '', ...more] = (pod ?? container ?? '').split('/');
  if (pod !== null && namespace && name && !own && more.length === 0) return { kind: 'pod', namespace, name };
  if (container !== null && namespace && name && own && more.length === 0)
    return { kind: 'container', namespace, name, container: own };
  return query.has('node') ? { kind: 'node' } : undefined;
}

/** The query that `targetOf` reads. */
export function queryOf(target: Target): string {
  if (target.kind === 'node') return 'node';
  const { kind, namespace, name } = target;
  const path = kind === 'pod' ? `${namespace}/${name}` : `${namespace}/${name}/${target.container}`;
  return `${kind}=${encodeURIComponent(path)}`;
}

/** What an actor is a part of: its container, its pod, or else the node. */
export function targetFor({ about, parent }: LiveActor, live: Pick<LiveSystem, 'actor'>): Target {
  const { kind, namespace, name = '', container } = about ?? {};
  if (kind === 'container' && namespace !== undefined && container !== undefined)
    return { kind, namespace, name, container };
  if (kind === 'pod' && namespace !== undefined) return { kind, namespace, name };
  const above = parent === undefined ? undefined : live.actor(parent);
  return above ? targetFor(above, live) : { kind: 'node' };
}
