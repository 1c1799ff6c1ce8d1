import type { ObservedContainer } from '../../runtime.types.ts';

/** What a container machine knows of its instances: its own calls' answers and what the pod pushed down, by freshness. */
export interface ContainerView {
  /** Newest first: by attempt, then createdAt. */
  instances: ObservedContainer[];
  /** Ids learned from own calls that no push has carried yet: missing in a push they are not gone. */
  unconfirmed: string[];
  /** Ids that own calls removed: in a push they are stale. */
  removed: string[];
  /** Ids that had exited when the plan in hand was made; a plan knows nothing of later ends. */
  knownExits: string[];
  /**
   * When the exited instances ended, by id, ms; of one that a view has just learned by the agent's clock, and from then on
   * in the process's own time (container.context.ts:inOwnTime). The runtime's clock may have been set meanwhile, so an
   * end that was lived through lies between the last sight of the instance before it and the first after it.
   */
  ends: Record<string, number>;
  /** The instance that this machine last had made, and when it began to start it: it cannot have ended before. */
  made?: { id: string; at: number };
  /** Highest attempt ever seen, of instances, log files and reserved names; -1 for none. It never falls. */
  highestAttempt: number;
}

const newestFirst = (a: ObservedContainer, b: ObservedContainer) => b.attempt - a.attempt || b.createdAt - a.createdAt;

/** Nothing but the view, so that what is given may know more. */
function withInstances(view: ContainerView, instances: ObservedContainer[]): ContainerView {
  return {
    instances: instances.toSorted(newestFirst),
    unconfirmed: view.unconfirmed,
    removed: view.removed,
    knownExits: view.knownExits,
    ends: endsAfter(view, instances),
    made: view.made,
    highestAttempt: Math.max(view.highestAttempt, ...instances.map((i) => i.attempt)),
  };
}

export function firstView(instances: ObservedContainer[], highestLogAttempt: number): ContainerView {
  const empty: ContainerView = {
    instances: [],
    unconfirmed: [],
    removed: [],
    knownExits: exitedIds(instances),
    ends: {},
    highestAttempt: highestLogAttempt,
  };
  return withInstances(empty, instances);
}

/** The pod's view was pushed down together with a plan that was made on it. */
export function viewAfterPush(view: ContainerView, pushed: ObservedContainer[]): ContainerView {
  const ids = new Set(pushed.map((i) => i.id));
  const merged = new Map(pushed.filter((i) => !view.removed.includes(i.id)).map((i) => [i.id, i]));
  for (const own of view.instances) {
    const other = merged.get(own.id);
    if (other ? own.at > other.at : view.unconfirmed.includes(own.id)) merged.set(own.id, own);
  }
  return {
    ...withInstances(view, [...merged.values()]),
    unconfirmed: view.unconfirmed.filter((id) => !ids.has(id)),
    removed: view.removed.filter((id) => ids.has(id)),
    knownExits: exitedIds(pushed),
  };
}

/** One instance as an own call saw it. */
export function viewAfterCall(view: ContainerView, instance: ObservedContainer): ContainerView {
  const known = view.instances.some((i) => i.id === instance.id);
  const others = view.instances.filter((i) => i.id !== instance.id);
  const unconfirmed = known ? view.unconfirmed : [...view.unconfirmed, instance.id];
  return { ...withInstances(view, [...others, instance]), unconfirmed };
}

/** The runtime no longer has this instance, as an own call found. */
export function viewWithout(view: ContainerView, id: string): ContainerView {
  const others = view.instances.filter((i) => i.id !== id);
  return {
    ...withInstances(view, others),
    unconfirmed: view.unconfirmed.filter((other) => other !== id),
    removed: [...view.removed, id],
  };
}

/** All instances as a fresh look of our own found them. */
export function viewAfterLook(view: ContainerView, found: ObservedContainer[]): ContainerView {
  const confirmed = view.instances.map((i) => i.id).filter((id) => !view.unconfirmed.includes(id));
  const unconfirmed = found.map((i) => i.id).filter((id) => !confirmed.includes(id));
  return { ...withInstances(view, found), unconfirmed };
}

/** CRI attempt of the next instance: above everything ever seen, whatever the clock says; 0 where nothing was. */
export function nextAttempt(view: Pick<ContainerView, 'highestAttempt'>): number {
  return view.highestAttempt + 1;
}

function exitedIds(instances: readonly ObservedContainer[]): string[] {
  return instances.filter((i) => i.state === 'exited').map((i) => i.id);
}

function endsAfter(view: ContainerView, instances: readonly ObservedContainer[]): Record<string, number> {
  const end = ({ id, finishedAt, at }: ObservedContainer) => {
    const alive = view.instances.find((i) => i.id === id && i.state !== 'exited')?.at ?? -Infinity;
    const made = view.made?.id === id ? view.made.at : -Infinity;
    return Math.max(alive, made, Math.min(finishedAt ?? at, at));
  };
  const exited = instances.filter((i) => i.state === 'exited');
  return Object.fromEntries(exited.map((i) => [i.id, view.ends[i.id] ?? end(i)]));
}
