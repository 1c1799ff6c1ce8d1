import type { Api, ListOptions, Target } from './api.ts';
import { view } from './api.ts';
import { ApiError } from './errors.ts';
import type { Status } from './errors.ts';
import type { KubeObject } from './objects.ts';
import { apiVersion } from './resources.ts';
import type { Change } from './store.ts';

export type WatchEvent =
  { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: KubeObject } | { type: 'ERROR'; object: Status };

export interface WatchOptions extends ListOptions {
  allowWatchBookmarks: boolean;
  sendInitialEvents: boolean;
}

/** A watch under way: `bookmark` tells the newest revision, `stop` ends it. */
export interface Watching {
  bookmark(): void;
  stop(): void;
}

const INITIAL_END = 'k8s.io/initial-events-end';

/**
 * Watches a resource. Without a resourceVersion (or with 0, or sendInitialEvents) what is there comes first as ADDED;
 * an object that comes into or falls out of the selection is ADDED or DELETED. A revision that is compacted away gives
 * one ERROR event of 410. Source: apiserver storage/cacher/cacher.go:Watch, API concepts page.
 */
export function watch(api: Api, target: Target, options: WatchOptions, send: (event: WatchEvent) => void): Watching {
  const { resource } = target;
  const match = api.matcher(resource, options);
  const asked = Number(options.resourceVersion || 0);
  const initial = options.sendInitialEvents || asked === 0;
  const from = initial ? api.store.revision : asked;
  const bookmark = (annotations?: Record<string, string>) =>
    send({
      type: 'BOOKMARK',
      object: {
        kind: resource.kind,
        apiVersion: apiVersion(resource),
        metadata: {
          resourceVersion: String(api.store.revision),
          creationTimestamp: undefined,
          ...(annotations && { annotations }),
        },
      },
    });
  if (initial)
    for (const object of api.store.list(api.prefix(target)).filter(match))
      send({ type: 'ADDED', object: view(resource, object) });
  if (options.sendInitialEvents && options.allowWatchBookmarks) bookmark({ [INITIAL_END]: 'true' });
  const tell = (change: Change) => {
    const type = seen(change, match);
    if (type)
      send({ type, object: view(resource, type === 'DELETED' && change.previous ? ended(change) : change.object) });
  };
  try {
    const stop = api.store.watch(api.prefix(target), from, tell);
    return { stop, bookmark: () => options.allowWatchBookmarks && bookmark() };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    send({ type: 'ERROR', object: error.status });
    return { stop: () => undefined, bookmark: () => undefined };
  }
}

function seen({ type, object, previous }: Change, match: (object: KubeObject) => boolean) {
  const before = previous !== undefined && match(previous);
  const after = type !== 'DELETED' && match(object);
  if (after) return before ? 'MODIFIED' : 'ADDED';
  return before ? 'DELETED' : undefined;
}

/** What falls out of a selection is shown as it was, with the revision of its end. */
const ended = ({ object, previous }: Change): KubeObject => ({
  ...(previous ?? object),
  metadata: { ...(previous ?? object).metadata, resourceVersion: object.metadata.resourceVersion },
});
