import type { LiveActor } from '../../live/live.types.ts';
import type { Model } from './model.ts';

/** `#/pod/default/web`, `#/container/default/web/main`, `#/actor/imagePull/pull`: the address of an actor over restarts. */
export function routeOf({ about, machine, id, sessionId, parent }: LiveActor, model: Model): string {
  const { kind, namespace = '', name = '', container = '' } = about ?? {};
  if (kind === 'pod' && machine === 'pod') return hash('pod', namespace, name);
  if (kind === 'container' && machine === 'container') return hash('container', namespace, name, container);
  // Ids are told apart by their parents only; the way from the top is as long as it has to be.
  const others = [...model.actors.values()].filter(
    (a) => a.machine === machine && a.id === id && a.sessionId !== sessionId,
  );
  const above = parent === undefined ? undefined : model.actors.get(parent);
  return others.length && above ? `${routeOf(above, model)}/${encodeURIComponent(id)}` : hash('actor', machine, id);
}

const hash = (...parts: string[]) => `#/${parts.map(encodeURIComponent).join('/')}`;

/** The actor that an address names, among those that are there now; of several lives of a name, the newest. */
export function actorAt(route: string, model: Model): LiveActor | undefined {
  const parts = route.replace(/^#\/?/, '').split('/').filter(Boolean).map(decode);
  const [kind, ...rest] = parts;
  const all = [...model.actors.values()];
  const length = { pod: 2, container: 3, actor: 2 }[kind ?? ''];
  if (length === undefined) return undefined;
  const [one, two, three] = rest;
  const found = all.findLast(({ machine, id, about }) => {
    if (kind === 'actor') return machine === one && id === two;
    const isThere = machine === kind && about?.namespace === one && about?.name === two;
    return isThere && (kind === 'pod' || about?.container === three);
  });
  return rest
    .slice(length)
    .reduce<LiveActor | undefined>(
      (above, part) => above && all.findLast((a) => a.parent === above.sessionId && [a.id, a.machine].includes(part)),
      found,
    );
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}
