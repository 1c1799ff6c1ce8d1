import type { Container, DesiredPod, PodStatus } from '../../../machines/kubernetes.types.ts';
import type { ProbeType } from '../../../machines/pod/probe.types.ts';
import { AUDIT_MS, type LedgerLine, type SimRuntime } from './runtime.ts';

/** What is needed of the runtime to judge a run. */
type Witness = Pick<SimRuntime, 'containers' | 'onLedger'> & { clock: { readonly elapsed: number } };

/**
 * What must hold of any run, judged from the runtime's ledger alone: the agent's own view is not asked. Each breach is a
 * sentence with the time.
 */
export class Invariants {
  readonly breaches: string[] = [];
  /** When a pod was taken out of its source, ms of the run; the moment the agent could know. */
  readonly #unwantedAt = new Map<string, number>();
  readonly #runtime: Witness;
  readonly #specs: ReadonlyMap<string, DesiredPod>;
  readonly #attempts = new Map<string, number>();
  readonly #killBy = new Map<string, number>();
  /** Init containers that ended well, by sandbox. */
  readonly #done = new Map<string, Set<string>>();
  /** Containers that ever started, as `sandbox/container`. */
  readonly #started = new Set<string>();
  readonly #phases = new Map<string, string>();
  /** Pods that ended, since this agent started. */
  readonly #finished = new Set<string>();
  /** How often every trace of a pod was removed. */
  readonly #lives = new Map<string, number>();
  /** When a dead agent's last call started a container, by id: the next agent stops what is too many once it sees it. */
  readonly #posthumous = new Map<string, number>();

  constructor(runtime: Witness, specs: ReadonlyMap<string, DesiredPod>) {
    this.#runtime = runtime;
    this.#specs = specs;
    runtime.onLedger = (line) => this.#judge(line);
  }

  /**
   * Another agent starts: it knows the stops that the last one had kept, by container id, and gives every other its whole
   * grace. It tells of each pod anew.
   */
  agentStarted(kept: ReadonlySet<string>): void {
    for (const id of [...this.#killBy.keys()]) if (!kept.has(id)) this.#killBy.delete(id);
    this.#finished.clear();
  }

  /** The pod has ended and its last status is told. */
  finished(uid: string): void {
    this.#finished.add(uid);
  }

  /** A manifest asks for the pod; after nobody did, and with nothing of it left, its life begins anew. */
  wanted(uid: string): void {
    const isBack = this.#unwantedAt.delete(uid);
    if (isBack && ![...this.#runtime.containers.values()].some((c) => c.podUid === uid)) this.#phases.delete(uid);
  }

  /** No manifest asks for the pod any more. */
  unwanted(uid: string): void {
    this.#unwantedAt.set(uid, this.#runtime.clock.elapsed);
  }

  isUnwanted(uid: string): boolean {
    return this.#unwantedAt.has(uid);
  }

  /** Containers whose startup probe has succeeded. */
  readonly #startupPassed = new Set<string>();
  /** Containers that were last shown ready. */
  readonly #ready = new Set<string>();
  /** What the last readiness probe found, by container. */
  readonly #lastFound = new Map<string, boolean>();
  /** Containers of which an agent could not keep what it had found. */
  readonly #unkept = new Set<string>();

  /** What a probe of a running container found. */
  probed(id: string, type: ProbeType, healthy: boolean, container: Container): void {
    if (type === 'startup' && healthy) this.#startupPassed.add(id);
    else if (type !== 'startup' && container.startupProbe && !this.#startupPassed.has(id))
      this.#breach(`${container.name} (${id}) was asked for its ${type} before it had started`);
    if (type === 'readiness') this.#lastFound.set(id, healthy);
  }

  unkept(id: string): void {
    this.#unkept.add(id);
  }

  /** A status that the agent reported. */
  status(uid: string, status: PodStatus | undefined): void {
    const phase = status?.phase;
    for (const { name, containerID = '', ready, state } of status?.containerStatuses ?? []) {
      const [, id = ''] = containerID.split('://');
      if (ready) this.#ready.add(id);
      else if (state?.running && this.#ready.delete(id) && this.#lastFound.get(id) !== false && !this.#unkept.has(id))
        this.#breach(`${uid}/${name} (${id}) was shown not ready without a failed probe`);
    }
    if (this.#finished.has(uid)) this.#breach(`status of ${uid} was written after its end`);
    const before = this.#phases.get(uid);
    if ((before === 'Failed' || before === 'Succeeded') && phase !== before && !this.#contested.has(uid))
      this.#breach(`phase of ${uid} went from ${before} to ${phase}`);
    if (phase) this.#phases.set(uid, phase);
  }

  /** Pods of whose name another manifest declares one too: while that one has the name, nobody knows how they ended. */
  readonly #contested = new Set<string>();
  contested(uid: string): void {
    this.#contested.add(uid);
  }

  /** Every trace of the pod was removed: if its manifest comes again, its life begins anew. */
  gone(uid: string): void {
    this.#lives.set(uid, this.lives(uid) + 1);
    this.#phases.delete(uid);
    this.#finished.delete(uid);
    for (const key of [...this.#attempts.keys()]) if (key.startsWith(`${uid}/`)) this.#attempts.delete(key);
  }

  /** How many lives of the pod are over: what a mirror pod says of one does not hold of the next. */
  lives(uid: string): number {
    return this.#lives.get(uid) ?? 0;
  }

  /** Containers that started without anybody being told: nobody can have stopped them first. */
  readonly #unheard = new Set<string>();

  #judge(line: LedgerLine): void {
    const { what, podUid, container = '', id = '', sandboxId = '', at } = line;
    const key = `${podUid}/${container}`;
    if (what === 'container.created') {
      const last = this.#attempts.get(key) ?? -1;
      const attempt = line.attempt ?? 0;
      // What was asked for long ago, or by an agent that is dead, is done when it is done; nobody can know of it before.
      if (attempt <= last && !line.posthumous && !line.late)
        this.#breach(`attempt of ${key} went from ${last} to ${attempt}`, at);
      this.#attempts.set(key, Math.max(last, attempt));
    }
    if (what === 'container.started') {
      if (line.posthumous || line.late) this.#unheard.add(id);
      this.#judgeStart(line);
      this.#judgeInitOrder(line);
      this.#started.add(`${sandboxId}/${container}`);
    }
    if (what === 'container.cutOff' && !line.posthumous && !line.late && !this.#unheard.has(id))
      this.#breach(`${key} was cut off: its sandbox was stopped while it ran`, at);
    if (what === 'container.exited' && this.#runtime.containers.get(id)?.exitCode === 0)
      this.#doneIn(sandboxId).add(container);
    if (what === 'container.stopAsked' && !line.posthumous && !line.late) {
      const killBy = at + (line.graceSeconds ?? 0) * 1000;
      const before = this.#killBy.get(id);
      if (before !== undefined && killBy > before + GRACE_SLACK)
        this.#breach(`grace of ${key} grew: kill at ${before} became ${killBy}`, at);
      this.#killBy.set(id, Math.min(before ?? Infinity, killBy));
    }
  }

  #judgeStart({ podUid, container, fullName, id, at, posthumous }: LedgerLine): void {
    if (posthumous) return void this.#posthumous.set(id ?? '', at);
    const running = [...this.#runtime.containers.values()].filter(
      (c) => c.state === 'running' && at - (this.#posthumous.get(c.id) ?? -Infinity) > UNSEEN,
    );
    if (running.filter((c) => c.podUid === podUid && c.name === container).length > 1)
      this.#breach(`two running containers for ${podUid}/${container}`, at);
    if (running.some((c) => c.fullName === fullName && c.podUid !== podUid))
      this.#breach(`pod ${fullName} runs under two UIDs`, at);
    const unwanted = this.#unwantedAt.get(podUid);
    if (unwanted !== undefined && at - unwanted > LATEST_START)
      this.#breach(`${podUid}/${container} started after its pod was removed`, at);
  }

  #judgeInitOrder({ podUid, container = '', sandboxId = '', at, posthumous }: LedgerLine): void {
    const spec = this.#specs.get(podUid)?.spec;
    if (!spec?.initContainers?.length || posthumous) return;
    const order = spec.initContainers;
    const index = order.findIndex((c) => c.name === container);
    const before = index === -1 ? order : order.slice(0, index);
    const regularRan = spec.containers.some(({ name }) => this.#started.has(`${sandboxId}/${name}`));
    if (index !== -1 && order[index]?.restartPolicy === 'Always' && regularRan) return;
    for (const { name, restartPolicy } of before) {
      const isOver =
        restartPolicy === 'Always' ? this.#started.has(`${sandboxId}/${name}`) : this.#doneIn(sandboxId).has(name);
      if (!isOver) this.#breach(`${podUid}/${container} started before ${name} was over`, at);
    }
  }

  #doneIn(sandboxId: string): Set<string> {
    const done = this.#done.get(sandboxId) ?? new Set<string>();
    this.#done.set(sandboxId, done);
    return done;
  }

  #breach(text: string, at = this.#runtime.clock.elapsed): void {
    this.breaches.push(`${at} ms: ${text}`);
  }
}

/** A call that was in flight when the pod was removed may still be answered: its deadline and the late work after it. */
const LATEST_START = 20_000;
/** So long an agent may not know of what another one's last call did: until its next audit, and a call that hangs. */
const UNSEEN = AUDIT_MS + 30_000;
/** Seconds are whole on the wire, and StopContainer gets at least 2 s. */
const GRACE_SLACK = 2_100;
