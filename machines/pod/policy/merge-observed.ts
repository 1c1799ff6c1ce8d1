import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../runtime.types.ts';

type Sighting = ObservedContainer | ObservedSandbox;

/**
 * What is known after one more look (ARCHITECTURE rule 6). For each object the sighting whose call began later wins; an
 * object that the look does not have is gone only if it was last seen before the look began.
 */
export function mergeObserved(previous: ObservedPod, next: ObservedPod): ObservedPod {
  return {
    ...previous,
    sandboxes: newestFirst(merge(previous.sandboxes, next.sandboxes, next.at, freshest)),
    containers: newestFirst(merge(previous.containers, next.containers, next.at, freshestContainer)),
    at: Math.max(previous.at, next.at),
  };
}

/** The same with the answer of an own call about one container. */
export function withContainer(observed: ObservedPod, instance: ObservedContainer): ObservedPod {
  return { ...observed, containers: newestFirst(merge(observed.containers, [instance], -Infinity, freshestContainer)) };
}

/** The same without a container that a call, begun at `at`, did not find. */
export function withoutContainer(observed: ObservedPod, id: string, at: number): ObservedPod {
  return { ...observed, containers: observed.containers.filter((c) => c.id !== id || c.at > at) };
}

/** The same with the answer of an own call about one sandbox. */
export function withSandbox(observed: ObservedPod, sandbox: ObservedSandbox): ObservedPod {
  return { ...observed, sandboxes: newestFirst(merge(observed.sandboxes, [sandbox], -Infinity, freshest)) };
}

/** The same with a sandbox that an own call, ended at `at`, has stopped. */
export function withSandboxStopped(observed: ObservedPod, id: string, at: number): ObservedPod {
  return {
    ...observed,
    sandboxes: observed.sandboxes.map((s) =>
      s.id === id && s.at <= at ? { ...s, state: 'notReady', ips: [], at } : s,
    ),
  };
}

function merge<T extends Sighting>(previous: T[], next: T[], lookBegan: number, choose: (a: T, b: T) => T): T[] {
  const merged = new Map<string, T>();
  for (const item of previous) if (item.at > lookBegan) merged.set(item.id, item);
  for (const item of next) {
    const known = previous.find(({ id }) => id === item.id);
    merged.set(item.id, known ? choose(known, item) : item);
  }
  return [...merged.values()];
}

const freshest = <T extends Sighting>(a: T, b: T): T => (b.at >= a.at ? b : a);

/** An end is final: no later word of the runtime brings the same container back to life. */
function freshestContainer(a: ObservedContainer, b: ObservedContainer): ObservedContainer {
  const newer = freshest(a, b);
  const older = newer === a ? b : a;
  if (older.state === 'exited' && newer.state !== 'exited') return { ...older, at: newer.at };
  return newer;
}

function newestFirst<T extends { attempt: number; createdAt: number }>(items: T[]): T[] {
  return items.sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt);
}
