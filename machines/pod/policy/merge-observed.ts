import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../runtime.types.ts';

type Sighting = ObservedContainer | ObservedSandbox;

/**
 * What is known after one more look (ARCHITECTURE rule 6). For each object the sighting whose call began later wins; an
 * object that the look does not have is gone only if it was last seen before the look began.
 */
export function mergeObserved(previous: ObservedPod, next: ObservedPod): ObservedPod {
  // A look that began before the last whole one brings nothing back that the later one no longer saw.
  const known = new Set([...previous.sandboxes, ...previous.containers].map(({ id }) => id));
  const isNews = ({ id, at }: Sighting) =>
    (known.has(id) || at >= previous.at) && at > (previous.gone?.[id] ?? -Infinity);
  return {
    ...previous,
    sandboxes: merge(previous.sandboxes, next.sandboxes.filter(isNews), next.at, freshest),
    containers: merge(previous.containers, next.containers.filter(isNews), next.at, freshestContainer),
    at: Math.max(previous.at, next.at),
    gone: stillRecent(previous.gone, next.at),
  };
}

/** The same with the answer of an own call about one container. */
export function withContainer(observed: ObservedPod, instance: ObservedContainer): ObservedPod {
  if (instance.at <= (observed.gone?.[instance.id] ?? -Infinity)) return observed;
  return { ...observed, containers: merge(observed.containers, [instance], -Infinity, freshestContainer) };
}

/** The same without a container that a call, begun at `at`, did not find. */
export function withoutContainer(observed: ObservedPod, id: string, at: number): ObservedPod {
  if (observed.containers.some((c) => c.id === id && c.at > at)) return observed;
  return {
    ...observed,
    containers: observed.containers.filter((c) => c.id !== id),
    gone: { ...observed.gone, [id]: at },
  };
}

/** The same with the answer of an own call about one sandbox. */
export function withSandbox(observed: ObservedPod, sandbox: ObservedSandbox): ObservedPod {
  return { ...observed, sandboxes: merge(observed.sandboxes, [sandbox], -Infinity, freshest) };
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
  return newestFirst([...merged.values()]);
}

/** Removals that a look which began before them could still undo. */
function stillRecent(gone: ObservedPod['gone'], lookBegan: number): ObservedPod['gone'] {
  const recent = Object.entries(gone ?? {}).filter(([, at]) => at > lookBegan);
  return recent.length > 0 ? Object.fromEntries(recent) : undefined;
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
