import { AgentError } from '../../../machines/agent-error.types.ts';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import type { ConfigObject, ObjectReference } from '../../../machines/pod/objects.types.ts';
import { podReferences } from '../../../machines/pod/policy/object-references.ts';
import { longSleep } from '../../timers.ts';
import type { Kube } from '../client.ts';
import { getObject } from '../verbs/get-object.ts';
import type { ChangeDetection, ConfigObjects, KeptObjects, ObjectKey } from './objects.types.ts';
import { watchOneObject, type WatchedObject } from './watched-object.ts';

/** Longest wait for a watch's first answer before the kept copy is taken, ms (watch_based_manager.go:Get). */
const FIRST_ANSWER_MS = 1_000;
/** How long a copy is good enough under `Cache`, ms (secret_manager.go:defaultTTL). */
const CACHE_MS = 60_000;

interface Logger {
  warn(fields: object, message: string): void;
}

export interface ObjectsOptions {
  kube: Kube;
  strategy: ChangeDetection;
  kept: KeptObjects;
  /** Uniform in [0, 1). */
  random: () => number;
  logger: Logger;
}

interface Entry {
  key: ObjectKey;
  /** Pods that use it, by UID, with who is to hear of its changes. */
  followers: Map<symbol, { uid: string; changed: (reference: ObjectReference) => void }>;
  watched?: WatchedObject;
  /** Under `Cache` and `Get`: the last answer, and when it was asked for. */
  got?: { object: ConfigObject | undefined; at: number };
  /** Told once for each outage that a copy is used. */
  toldStale: boolean;
}

/**
 * ConfigMaps and Secrets of the API for the pods of this node: by one watch an object (`Watch`), by copies of at most a
 * minute (`Cache`), or asked for each time (`Get`), and by what was kept where the API server is away
 * (util/manager/watch_based_manager.go, cache_based_manager.go).
 */
export function configObjects({ kube, strategy, kept, random, logger }: ObjectsOptions): ConfigObjects {
  const entries = new Map<string, Entry>();
  let keeping: Promise<void> = Promise.resolve();

  const entryOf = (key: ObjectKey): Entry => {
    const id = idOf(key);
    const entry = entries.get(id) ?? { key, followers: new Map(), toldStale: false };
    entries.set(id, entry);
    return entry;
  };
  /** Writes in the order of what was learned; a copy that cannot be kept is told and keeps from nothing. */
  const keep = ({ key, followers }: Entry, object: ConfigObject | undefined) => {
    const pods = [...new Set([...followers.values()].map(({ uid }) => uid))];
    const work = () => (object ? kept.write(key, object, pods) : kept.remove(key));
    keeping = keeping.then(work).catch((error: unknown) => {
      const { message } = AgentError.from(error, 'keep object');
      logger.warn({ ...key, problem: message }, 'a copy for times without an API server could not be kept');
    });
  };
  const begin = (entry: Entry) => {
    entry.watched = watchOneObject(kube, entry.key, random, (object, first) => {
      entry.toldStale = false;
      keep(entry, object);
      const { kind, name } = entry.key;
      if (!first) for (const { changed } of entry.followers.values()) changed({ kind, name });
    });
  };
  const stale = (entry: Entry, error: AgentError) => {
    if (entry.toldStale) return;
    entry.toldStale = true;
    logger.warn(
      { ...entry.key, problem: error.message },
      'the API server is away: the object is used as it was last seen',
    );
  };
  /** What was kept, told once; else why it cannot be had. */
  const recall = async (entry: Entry, error: AgentError): Promise<ConfigObject> => {
    const copy = await kept.read(entry.key);
    if (!copy) throw error;
    stale(entry, error);
    return copy;
  };

  const readWatched = async (entry: Entry, watched: WatchedObject, signal: AbortSignal) => {
    if (watched.knowledge.is === 'unknown') await Promise.race([watched.answered, longSleep(FIRST_ANSWER_MS, signal)]);
    const { knowledge } = watched;
    if (knowledge.is === 'unknown') return recall(entry, knowledge.error ?? notYet(entry.key));
    if (knowledge.lost) stale(entry, knowledge.lost);
    return knowledge.object;
  };
  const readNow = async (entry: Entry, signal: AbortSignal) => {
    const { got, key } = entry;
    const now = performance.now();
    if (strategy === 'Cache' && got && now - got.at < CACHE_MS) return got.object;
    try {
      const object = await getObject(kube, key, signal);
      entry.got = { object, at: now };
      entry.toldStale = false;
      keep(entry, object);
      return object;
    } catch (error) {
      const failure = AgentError.from(error, `get ${key.kind}`);
      if (!failure.transient || signal.aborted) throw failure;
      return recall(entry, failure);
    }
  };

  return {
    follow(pod: DesiredPod, changed) {
      const { uid, namespace } = pod.metadata;
      const mark = Symbol(uid);
      const followed = podReferences(pod).map((reference) => {
        const entry = entryOf({ ...reference, namespace });
        entry.followers.set(mark, { uid, changed });
        // A pod that comes sees what is there then, not an older copy (cache_based_manager.go:AddReference).
        delete entry.got;
        if (strategy === 'Watch' && !entry.watched) begin(entry);
        else if (entry.watched?.knowledge.is === 'known') keep(entry, entry.watched.knowledge.object);
        return entry;
      });
      return () => {
        for (const entry of followed) {
          entry.followers.delete(mark);
          if (entry.followers.size > 0) continue;
          entry.watched?.close();
          if (entries.get(idOf(entry.key)) === entry) entries.delete(idOf(entry.key));
        }
      };
    },

    async read(namespace, references, signal) {
      const found = await Promise.all(
        references.map(async (reference) => {
          const key = { ...reference, namespace };
          const entry: Entry = entries.get(idOf(key)) ?? { key, followers: new Map(), toldStale: false };
          const object = await (entry.watched ? readWatched(entry, entry.watched, signal) : readNow(entry, signal));
          return [`${reference.kind}/${reference.name}`, object] as const;
        }),
      );
      const objects = new Map(found);
      return ({ kind, name }) => objects.get(`${kind}/${name}`);
    },

    sweep(pods) {
      const following = [...entries.values()].flatMap(({ followers }) => [...followers.values()]);
      return kept.sweep(new Set([...pods, ...following.map(({ uid }) => uid)]));
    },
  };
}

const idOf = ({ kind, namespace, name }: ObjectKey) => `${kind}/${namespace}/${name}`;

const notYet = ({ kind, namespace, name }: ObjectKey) =>
  new AgentError({
    op: `read ${kind}`,
    reason: 'UNAVAILABLE',
    message: `failed to sync ${kind.toLowerCase()} cache: ${namespace}/${name}: timed out waiting for the condition`,
    transient: true,
  });
