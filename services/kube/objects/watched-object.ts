import type { ConfigObject } from '../../../machines/pod/objects.types.ts';
import { AgentError } from '../../../machines/agent-error.types.ts';
import { longSleep } from '../../timers.ts';
import type { Kube, WatchEvent } from '../client.ts';
import { hasReason } from '../errors.ts';
import { listObject } from '../verbs/list-object.ts';
import { watchObject } from '../verbs/watch-object.ts';
import type { ObjectKey } from './objects.types.ts';

/** Waits between failures, ms, doubling, up to twice as long by chance (client-go reflector, which begins with 800). */
const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 30_000;

/** What is known of one object. */
export type Knowledge =
  | { is: 'unknown'; error?: AgentError }
  /** `current` false: the API server is away, and this is what it said last. */
  | { is: 'known'; object: ConfigObject | undefined; current: boolean };

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
  let version = '';

  const learn = (object: ConfigObject | undefined) => {
    const before = knowledge;
    knowledge = { is: 'known', object, current: true };
    answered.resolve();
    if (before.is === 'unknown' || versionOf(before.object) !== versionOf(object))
      changed(object, before.is === 'unknown');
  };
  const lose = (error: unknown) => {
    const failure = AgentError.from(error, `watch ${key.kind}`);
    knowledge = knowledge.is === 'known' ? { ...knowledge, current: false } : { is: 'unknown', error: failure };
    answered.resolve();
  };
  const hear = ({ type, object }: WatchEvent<ConfigObject>) => {
    version = object.metadata?.resourceVersion ?? version;
    if (type !== 'BOOKMARK') learn(type === 'DELETED' ? undefined : object);
  };
  const isFixed = () => knowledge.is === 'known' && knowledge.object?.immutable === true;

  const run = async () => {
    for (let failures = 0; !signal.aborted && !isFixed();) {
      const began = performance.now();
      try {
        if (version === '') {
          const { resourceVersion, object } = await listObject(kube, key, signal);
          learn(object);
          version = resourceVersion;
          failures = 0;
          continue;
        }
        await watchObject(kube, key, { resourceVersion: version, random: random() }, hear, signal);
        // One that is cut at once, again and again, must not be asked for without a pause.
        failures = performance.now() - began < FIRST_RETRY_MS ? failures + 1 : 0;
      } catch (error) {
        if (signal.aborted) return;
        version = '';
        failures += 1;
        if (!hasReason(error, 'Expired')) lose(error);
      }
      if (failures > 0) {
        const wait = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10));
        await longSleep(wait * (1 + random()), signal);
      }
    }
  };
  void run();
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
