import type { ListedPod, ObservedPod, RuntimeEcho, RuntimeEvent, RuntimeListing } from '../../runtime.types.ts';

/** What a pod was last known to consist of. Times are when looks began, ms since the epoch. */
export interface KnownPod {
  pod: ListedPod;
  /** The listing or full look that `pod` comes from. */
  at: number;
  /** The last full look; 0 before the first. */
  observedAt: number;
}

/** The cheap view of a pod that a listing gives, from its full view. */
export function listedView({ uid, name, namespace, sandboxes, containers }: ObservedPod): ListedPod {
  return {
    uid,
    name,
    namespace,
    sandboxes: sandboxes.map(({ id, state }) => ({ id, state })),
    containers: containers.map(({ id, state }) => ({ id, state })),
  };
}

/**
 * Compares a listing with what was known. `changed` are the pods that are new, are gone, or have other ids or states:
 * these need a full look (generic.go:Relist). `known` is what is known after it: a pod that changed is known as the listing
 * has it, so the next listing does not find the same change again; one that is gone is known to have nothing.
 *
 * A pod seen by a look that began after the listing is left as it is. `now` tells such a look from one that was made before
 * the wall clock was set back, which says nothing.
 */
export function diffListing(
  known: Readonly<Record<string, KnownPod>>,
  listing: RuntimeListing,
  now: number,
): { known: Record<string, KnownPod>; changed: string[] } {
  const after: Record<string, KnownPod> = {};
  const changed: string[] = [];
  const listed = new Map(listing.pods.map((pod) => [pod.uid, pod]));
  for (const uid of new Set([...listed.keys(), ...Object.keys(known)])) {
    const before = known[uid];
    if (before && isNewer(before.at, listing.at, now)) {
      after[uid] = before;
      continue;
    }
    const pod = listed.get(uid) ?? { ...(before as KnownPod).pod, sandboxes: [], containers: [] };
    after[uid] = { pod, at: listing.at, observedAt: before?.observedAt ?? 0 };
    if (!before || signature(before.pod) !== signature(pod)) changed.push(uid);
  }
  return { known: after, changed };
}

/** What is known of a pod after an own call's answer; its other objects stay as they were known. */
export function afterEcho(before: KnownPod | undefined, echo: RuntimeEcho): KnownPod {
  const { pod, sandboxes = [], containers = [], gone = [], at } = echo;
  const { uid, name, namespace } = pod;
  const told = new Set([...sandboxes, ...containers].map(({ id }) => id).concat(gone));
  const others = <T extends { id: string }>(known: T[] = []) => known.filter(({ id }) => !told.has(id));
  return {
    pod: {
      uid,
      name,
      namespace,
      sandboxes: [...sandboxes, ...others(before?.pod.sandboxes)],
      containers: [...containers, ...others(before?.pod.containers)],
    },
    at: before?.at ?? at,
    observedAt: before?.observedAt ?? 0,
  };
}

/**
 * Whether what is known already shows what an event tells. States only go forward, so that a known object is at or beyond
 * the event's state is enough, whenever it was seen; for anything else only a look that began later counts.
 */
export function isKnown({ pod, at }: KnownPod, event: RuntimeEvent, now: number): boolean {
  if (!shows(pod, event)) return false;
  const isThere = [...pod.sandboxes, ...pod.containers].some(({ id }) => id === event.containerId);
  return (isThere && event.kind !== 'oom') || isNewer(at, event.at, now);
}

/** Whether a look that began at `known` is later than one that began at `at`; one in the future does not count. */
export const isNewer = (known: number, at: number, now: number): boolean => known > at && known <= now;

/** The pod that has a sandbox or container with this id. */
export function podOf(known: Readonly<Record<string, KnownPod>>, id: string): string | undefined {
  return Object.values(known).find(({ pod }) => [...pod.sandboxes, ...pod.containers].some((o) => o.id === id))?.pod
    .uid;
}

/**
 * Whether a view of the pod shows what an event told of. An event may come before the runtime's own records say the same:
 * containerd's CRI plugin learns of an exit from the same events.
 */
export function shows(pod: ListedPod, { kind, containerId }: RuntimeEvent): boolean {
  const container = pod.containers.find(({ id }) => id === containerId);
  const sandbox = pod.sandboxes.find(({ id }) => id === containerId);
  switch (kind) {
    case 'created':
    case 'oom':
      return container !== undefined || sandbox !== undefined;
    case 'started':
      return sandbox !== undefined || (container !== undefined && container.state !== 'created');
    case 'stopped':
      return container ? container.state === 'exited' || container.state === 'unknown' : sandbox?.state !== 'ready';
    case 'deleted':
      return container === undefined && sandbox === undefined;
  }
}

function signature({ sandboxes, containers }: ListedPod): string {
  return [...sandboxes, ...containers]
    .map(({ id, state }) => `${id}=${state}`)
    .sort()
    .join();
}
