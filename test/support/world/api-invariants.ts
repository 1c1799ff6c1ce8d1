import type { ContainerStatus, Pod, PodStatus } from '../../../machines/kubernetes.types.ts';
import { isMirror, MIRROR } from '../mirror.ts';
import type { ApiWrite, SimApiServer } from './api-server.ts';
import type { World } from './world.ts';

/** What of a world the API's invariants are judged by. */
type Witness = Pick<World, 'invariants' | 'runtime' | 'mounts' | 'cgroups' | 'clock'>;

const isTerminal = (phase: string | undefined) => phase === 'Failed' || phase === 'Succeeded';

/**
 * What must hold of every write of the agent, judged from the store's objects before and after it and from the runtime's
 * ledger. A write that a dead agent had sent off is excused: the next one knows nothing of it.
 */
export class ApiInvariants {
  readonly #world: Witness;
  /** When a dead agent's write was done, by name: the next agent may have looked before that. */
  readonly #posthumous = new Map<string, number>();
  /** Which life of a static pod its mirror pod told of last. */
  readonly #lives = new Map<string, number>();

  constructor(world: Witness, server: Pick<SimApiServer, 'onWrite' | 'onTwoWriters'>) {
    this.#world = world;
    server.onWrite = (write) => this.#judge(write);
    server.onTwoWriters = (what) => this.#breach(`two writers at once of ${what}`);
  }

  #judge(write: ApiWrite): void {
    const { resource, verb, error, posthumous, target, body, before } = write;
    if (posthumous) {
      if (!error && resource.startsWith('pods')) this.#posthumous.set(target.name, this.#world.clock.elapsed);
      return;
    }
    if (error) return this.#judgeRefusal(write);
    if (resource === 'pods/status') this.#judgeStatus(write);
    if (resource === 'pods' && verb === 'delete' && before) {
      const { gracePeriodSeconds, preconditions } = body as {
        gracePeriodSeconds?: number;
        preconditions?: { uid?: string };
      };
      if (gracePeriodSeconds !== 0 || preconditions?.uid !== before.metadata.uid)
        this.#breach(`pod ${target.name} is deleted without grace 0 or without its UID as precondition`);
      if (!isMirror(before as unknown as Pod)) this.#judgeFinalDelete(before as unknown as Pod);
    }
  }

  /** What the server forbids the agent must not ask for. */
  #judgeRefusal({ verb, resource, target, error, body, before }: ApiWrite): void {
    const code = error?.status.code;
    // Another pod has the name by now, and not all of the server looks at the UID first.
    const { preconditions, metadata } = body as { preconditions?: { uid?: string }; metadata?: { uid?: string } };
    const uid = preconditions?.uid ?? metadata?.uid;
    const isOther = uid !== undefined && uid !== before?.metadata.uid;
    if ((code === 400 || code === 403 || code === 405 || code === 422) && !isOther)
      if (!EXCUSED.test(error?.message ?? ''))
        this.#breach(`${verb} ${resource} ${target.name} is forbidden: ${error?.message ?? ''}`);
  }

  #judgeFinalDelete({ metadata, status }: Pod): void {
    const { uid = '', name = '', deletionTimestamp } = metadata ?? {};
    const { runtime, mounts, cgroups } = this.#world;
    if (!deletionTimestamp) this.#breach(`pod ${name} is deleted though nobody asked for it`);
    if (!isTerminal(status?.phase)) this.#breach(`pod ${name} is deleted before its terminal status is written`);
    if ([...runtime.containers.values()].some((c) => c.podUid === uid && c.state === 'running'))
      this.#breach(`pod ${name} is deleted while something of it runs`);
    if ([...runtime.sandboxes.values()].some((s) => s.podUid === uid && s.state === 'ready'))
      this.#breach(`pod ${name} is deleted while its sandbox stands`);
    if (mounts.has(uid) || cgroups.has(uid)) this.#breach(`pod ${name} is deleted while volumes or cgroup are held`);
  }

  #judgeStatus({ before, after, target }: ApiWrite): void {
    // A mirror pod has the UID of its static pod as its hash.
    const uid = before?.metadata.annotations?.[MIRROR] ?? before?.metadata.uid ?? '';
    const [was, is] = [before, after].map((object) => (object as unknown as Pod | undefined)?.status);
    const sinceDeath = this.#world.clock.elapsed - (this.#posthumous.get(target.name) ?? -Infinity);
    // The first write of the next agent alone may know nothing of it: its answer tells.
    this.#posthumous.delete(target.name);
    if (sinceDeath < UNHEARD) return;
    // A manifest with a UID of its own may become quite another pod behind one mirror pod.
    if (!was || !is || uid.startsWith('uid-')) return;

    const what = `status of ${target.name} (${uid})`;
    if (isTerminal(was.phase) && is.phase !== was.phase)
      this.#breach(`${what}: phase went from ${was.phase} to ${is.phase}`);
    const life = this.#world.invariants.lives(uid);
    const isSameLife = life === (this.#lives.get(uid) ?? 0);
    this.#lives.set(uid, life);
    // In a new sandbox its init containers run again.
    const initialized = is.conditions?.find(({ type }) => type === 'Initialized')?.status;
    if (was.phase === 'Running' && is.phase === 'Pending' && initialized === 'True' && isSameLife)
      this.#breach(`${what}: phase went from Running to Pending`);
    if ((was.observedGeneration ?? 0) > (is.observedGeneration ?? 0))
      this.#breach(`${what}: observedGeneration went back`);
    if (was.startTime && was.startTime !== is.startTime) this.#breach(`${what}: startTime changed`);
    for (const old of was.conditions ?? []) {
      const now = is.conditions?.find(({ type }) => type === old.type);
      const [from, to] = [old.lastTransitionTime, now?.lastTransitionTime].map((t) => Date.parse(String(t)));
      if (!now || from === undefined || to === undefined || Number.isNaN(from)) continue;
      if (to < from) this.#breach(`${what}: lastTransitionTime of ${old.type} went back`);
      if (old.status === now.status && to !== from)
        this.#breach(`${what}: lastTransitionTime of ${old.type} changed, its status did not`);
    }
    for (const old of containersOf(was)) {
      const now = containersOf(is).find(({ name }) => name === old.name);
      if (!now) this.#breach(`${what}: container ${old.name} is not told of any more`);
      else if (now.restartCount < old.restartCount && this.#knows(uid, old))
        this.#breach(`${what}: restartCount of ${old.name} went back`);
    }
  }

  /** The runtime has a record of it: others may remove one. */
  #knows(uid: string, { name, restartCount }: ContainerStatus): boolean {
    const own = [...this.#world.runtime.containers.values()].filter((c) => c.podUid === uid && c.name === name);
    return own.some(({ attempt }) => attempt >= restartCount);
  }

  #breach(text: string): void {
    this.#world.invariants.breaches.push(`${this.#world.clock.elapsed} ms: ${text}`);
  }
}

/** Longest that a write is under way which was made before its agent heard of another's, ms. */
const UNHEARD = 15_000;

/** Refusals that only time can prevent: the Node was deleted under the agent, or made anew. */
const EXCUSED = /error looking up node|UID mismatch|metadata.uid|field is immutable|no relationship found/;

const containersOf = (status: PodStatus): ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
];
