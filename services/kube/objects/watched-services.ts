import { AgentError } from '../../../machines/agent-error.types.ts';
import type { NodeService } from '../../../machines/pod/objects.types.ts';
import { isStaticPod } from '../../../machines/pod/policy/names.ts';
import { sameJson } from '../../../machines/pod/policy/same-json.ts';
import { hasVariables, isSeenFrom } from '../../../machines/pod/policy/service-variables.ts';
import { longSleep } from '../../timers.ts';
import type { Kube } from '../client.ts';
import type { KeptByPod } from '../kept-by-pod.ts';
import { listServices } from '../verbs/list-services.ts';
import { watchServices } from '../verbs/watch-services.ts';
import type { NodeServices, ServiceObject } from './objects.types.ts';
import { reflect } from './reflect.ts';

/** Longest wait for the first listing, ms; the container is tried again later. */
const FIRST_ANSWER_MS = 1_000;
/** kubelet_pods.go:makeEnvironmentVariables */
const NEVER_READ = 'services have not yet been read at least once, cannot construct envvars';

type Known = Map<string, NodeService>;

export interface ServicesOptions {
  kube: Kube;
  /** By namespace: what its pods may see. */
  kept: KeptByPod<NodeService[]>;
  /** Uniform in [0, 1). */
  random: () => number;
  logger: { warn(fields: object, message: string): void };
}

/**
 * The Services of the cluster by one watch for the whole node, begun at once. Of each no more is held than its name, address
 * and ports; for times without an API server each namespace that has pods here keeps a copy of what they may see.
 */
export function nodeServices({ kube, kept, random, logger }: ServicesOptions): NodeServices {
  const closing = new AbortController();
  const { signal } = closing;
  const listed = Promise.withResolvers<void>();
  let known: Known | undefined;
  let isCurrent = false;
  let problem: string | undefined;
  /** Told once for each outage that a copy is used. */
  let toldStale = false;
  /** UIDs of pods by namespace, each as often as it is followed. */
  const followers = new Map<string, Map<symbol, string>>();
  /** Namespaces whose turn to be written is still to come. */
  const due = new Set<string>();
  let keeping: Promise<void> = Promise.resolve();

  const seenFrom = (namespace: string) =>
    [...(known?.values() ?? [])].filter((service) => isSeenFrom(namespace, service));
  /** Written one after the other, each as it is then; one that cannot be kept is told and keeps from nothing. */
  const keep = (namespace: string) => {
    if (due.has(namespace)) return;
    due.add(namespace);
    keeping = keeping
      .then(async () => {
        due.delete(namespace);
        const pods = new Set(followers.get(namespace)?.values());
        if (known && pods.size > 0) await kept.write(namespace, seenFrom(namespace), [...pods]);
      })
      .catch((error: unknown) => {
        const { message } = AgentError.from(error, 'keep services');
        logger.warn({ namespace, problem: message }, 'a copy of Services for times without an API server is not kept');
      });
  };
  const keepChanged = (services: readonly (NodeService | undefined)[]) => {
    for (const namespace of followers.keys())
      if (services.some((service) => service && isSeenFrom(namespace, service))) keep(namespace);
  };
  const current = () => {
    isCurrent = true;
    toldStale = false;
    problem = undefined;
  };
  const learnAll = (fresh: Known) => {
    const before = known;
    known = fresh;
    current();
    listed.resolve();
    if (!before) for (const namespace of followers.keys()) keep(namespace);
    else keepChanged(changesOf(before, fresh));
  };
  const hear = (object: ServiceObject, isGone: boolean) => {
    const service = slim(object);
    const id = idOf(service);
    const before = known?.get(id);
    if (isGone || !hasVariables(service)) known?.delete(id);
    else known?.set(id, service);
    const after = known?.get(id);
    if (!sameJson(before, after)) keepChanged([before, after]);
  };

  void reflect(
    {
      list: async () => {
        const fresh: Known = new Map();
        const version = await listServices(
          kube,
          (items) => {
            for (const service of items.map(slim)) if (hasVariables(service)) fresh.set(idOf(service), service);
          },
          signal,
        );
        learnAll(fresh);
        return version;
      },
      watch: (resourceVersion, heard) =>
        watchServices(
          kube,
          { resourceVersion, random: random() },
          ({ type, object }) => {
            heard(object.metadata?.resourceVersion ?? resourceVersion);
            if (type !== 'BOOKMARK') hear(object, type === 'DELETED');
          },
          signal,
        ),
      lose: (error) => {
        isCurrent = false;
        problem = AgentError.from(error, 'watch Service').message;
      },
      random,
    },
    signal,
  );

  return {
    follow({ metadata: { namespace, uid } }) {
      const mark = Symbol(uid);
      const own = followers.get(namespace) ?? new Map<symbol, string>();
      followers.set(namespace, own.set(mark, uid));
      keep(namespace);
      return () => {
        own.delete(mark);
        if (own.size === 0 && followers.get(namespace) === own) followers.delete(namespace);
      };
    },

    async read(pod, readSignal) {
      const { namespace } = pod.metadata;
      const isStatic = isStaticPod(pod);
      if (!known && !isStatic)
        await Promise.race([listed.promise, longSleep(FIRST_ANSWER_MS, AbortSignal.any([readSignal, signal]))]);
      const services = known ? seenFrom(namespace) : await kept.read(namespace);
      if (!services && isStatic) return [];
      if (!isCurrent && !toldStale) {
        toldStale = true;
        logger.warn(
          { problem },
          `the API server is away: Services are ${services ? 'used as last seen' : 'not known'}`,
        );
      }
      if (services) return services;
      throw new AgentError({ op: 'read services', reason: 'UNAVAILABLE', message: NEVER_READ, transient: true });
    },

    sweep: (pods) => kept.sweep(new Set([...pods, ...[...followers.values()].flatMap((own) => [...own.values()])])),

    close: () => closing.abort(),
  };
}

const idOf = ({ namespace, name }: NodeService) => `${namespace}/${name}`;

function slim({ metadata, spec }: ServiceObject): NodeService {
  const { namespace = '', name = '' } = metadata ?? {};
  const ports = (spec?.ports ?? []).map(({ name: called, protocol, port }) => ({ name: called, protocol, port }));
  return { namespace, name, clusterIP: spec?.clusterIP ?? '', ports };
}

/** Those that came, went or changed, as they are and as they were. */
function changesOf(before: Known, after: Known): (NodeService | undefined)[] {
  const ids = new Set([...before.keys(), ...after.keys()]);
  return [...ids].flatMap((id) => (sameJson(before.get(id), after.get(id)) ? [] : [before.get(id), after.get(id)]));
}
