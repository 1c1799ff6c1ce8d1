import type { ConfigObject } from '../../../machines/pod/objects.types.ts';
import { AgentError } from '../../../machines/agent-error.types.ts';
import type { Kube } from '../client.ts';
import { listObject } from '../verbs/list-object.ts';
import { watchObject } from '../verbs/watch-object.ts';
import type { ObjectKey } from './objects.types.ts';
import { reflect } from './reflect.ts';

/** What is known of one object. */
export type Knowledge =
  | { is: 'unknown'; error?: AgentError }
  /** `lost`: why this is only what the API server said last. */
  | { is: 'known'; object: ConfigObject | undefined; lost?: AgentError };

/** One object, listed and then watched, for as long as anybody needs it. */
export interface WatchedObject {
  readonly knowledge: Knowledge;
  /** Resolves with the first answer of the API server, a refusal among them. */
  readonly answered: Promise<void>;
  close(): void;
}

/**
 * Follows one object: lists it, watches it, and begins again after a failure. An immutable one is listed once.
 *
 * @param random uniform in [0, 1)
 * @param changed is told of each version that differs from the one before; must not throw
 */
export function watchOneObject(
  kube: Kube,
  key: ObjectKey,
  random: () => number,
  changed: (object: ConfigObject | undefined, first: boolean) => void,
): WatchedObject {
  const closing = new AbortController();
  const { signal } = closing;
  const answered = Promise.withResolvers<void>();
  let knowledge: Knowledge = { is: 'unknown' };

  const learn = (object: ConfigObject | undefined) => {
    const before = knowledge;
    knowledge = { is: 'known', object };
    answered.resolve();
    if (before.is === 'unknown' || versionOf(before.object) !== versionOf(object))
      changed(object, before.is === 'unknown');
  };
  const lose = (error: unknown) => {
    const lost = AgentError.from(error, `watch ${key.kind}`);
    knowledge = knowledge.is === 'known' ? { ...knowledge, lost } : { is: 'unknown', error: lost };
    answered.resolve();
  };
  void reflect(
    {
      list: async () => {
        const { resourceVersion, object } = await listObject(kube, key, signal);
        learn(object);
        return resourceVersion;
      },
      watch: (resourceVersion, heard) =>
        watchObject(
          kube,
          key,
          { resourceVersion, random: random() },
          ({ type, object }) => {
            heard(object.metadata?.resourceVersion ?? resourceVersion);
            if (type !== 'BOOKMARK') learn(type === 'DELETED' ? undefined : object);
          },
          signal,
        ),
      lose,
      isFixed: () => knowledge.is === 'known' && knowledge.object?.immutable === true,
      random,
    },
    signal,
  );
  return {
    get knowledge() {
      return knowledge;
    },
    answered: answered.promise,
    close: () => closing.abort(),
  };
}

const versionOf = (object: ConfigObject | undefined) =>
  object && `${object.metadata?.uid ?? ''}/${object.metadata?.resourceVersion ?? ''}`;
