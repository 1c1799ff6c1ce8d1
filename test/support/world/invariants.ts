import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import type { LedgerLine, SimRuntime } from './runtime.ts';

/**
 * What must hold of any run, judged from the runtime's ledger alone: the agent's own view is not asked. Each breach is a
 * sentence with the time.
 */
export class Invariants {
  readonly breaches: string[] = [];
  /** When a pod was taken out of its source, ms of the run; the moment the agent could know. */
  readonly removedAt = new Map<string, number>();
  readonly #runtime: SimRuntime;
  readonly #specs: ReadonlyMap<string, DesiredPod>;
  readonly #attempts = new Map<string, number>();
  readonly #killBy = new Map<string, number>();
  readonly #done = new Map<string, Set<string>>();
  readonly #phases = new Map<string, string>();

  constructor(runtime: SimRuntime, specs: ReadonlyMap<string, DesiredPod>) {
    this.#runtime = runtime;
    this.#specs = specs;
    runtime.onLedger = (line) => this.#judge(line);
  }

  /** A status that the agent reported. */
  status(uid: string, phase: string | undefined): void {
    const before = this.#phases.get(uid);
    if ((before === 'Failed' || before === 'Succeeded') && phase !== before)
      this.#breach(`phase of ${uid} went from ${before} to ${phase}`);
    if (phase) this.#phases.set(uid, phase);
  }

  /** Every trace of the pod was removed: if its manifest comes again, its life begins anew. */
  gone(uid: string): void {
    this.#phases.delete(uid);
    for (const key of [...this.#attempts.keys()]) if (key.startsWith(`${uid}/`)) this.#attempts.delete(key);
  }

  #judge(line: LedgerLine): void {
    const { what, podUid, container, id, at } = line;
    const key = `${podUid}/${container}`;
    if (what === 'container.created') {
      const last = this.#attempts.get(key) ?? -1;
      if ((line.attempt ?? 0) <= last) this.#breach(`attempt of ${key} went from ${last} to ${line.attempt}`, at);
      this.#attempts.set(key, line.attempt ?? 0);
    }
    if (what === 'container.started') {
      const running = [...this.#runtime.containers.values()].filter((c) => c.state === 'running');
      if (running.filter((c) => c.podUid === podUid && c.name === container).length > 1)
        this.#breach(`two running containers for ${key}`, at);
      if (running.some((c) => c.fullName === line.fullName && c.podUid !== podUid))
        this.#breach(`pod ${line.fullName} runs under two UIDs`, at);
      const removed = this.#removedAt(podUid);
      if (removed !== undefined && at - removed > LATEST_START)
        this.#breach(`${key} started after its pod was removed`, at);
      this.#judgeInitOrder(line);
    }
    if (what === 'container.exited') {
      const c = this.#runtime.containers.get(id ?? '');
      if (c?.exitCode === 0) this.#doneIn(line.sandboxId ?? '').add(container ?? '');
    }
    if (what === 'container.stopAsked') {
      const killBy = at + (line.graceSeconds ?? 0) * 1000;
      const before = this.#killBy.get(id ?? '');
      if (before !== undefined && killBy > before + GRACE_SLACK)
        this.#breach(`grace of ${key} grew: kill at ${before} became ${killBy}`, at);
      this.#killBy.set(id ?? '', Math.min(before ?? Infinity, killBy));
    }
  }

  #judgeInitOrder({ podUid, container, sandboxId = '', at }: LedgerLine): void {
    const spec = this.#specs.get(podUid)?.spec;
    if (!spec?.initContainers?.length) return;
    const order = spec.initContainers;
    const index = order.findIndex((c) => c.name === container);
    const before = index === -1 ? order : order.slice(0, index);
    if (index !== -1 && order[index]?.restartPolicy === 'Always' && this.#regularRan(podUid, sandboxId)) return;
    for (const init of before) {
      const sidecar = init.restartPolicy === 'Always';
      const ok = sidecar ? this.#everStarted(podUid, init.name, sandboxId) : this.#doneIn(sandboxId).has(init.name);
      if (!ok) this.#breach(`${podUid}/${container} started before ${init.name} was over`, at);
    }
  }

  #everStarted(uid: string, name: string, sandboxId: string): boolean {
    return this.#runtime.ledger.some(
      (l) => l.what === 'container.started' && l.podUid === uid && l.container === name && l.sandboxId === sandboxId,
    );
  }

  #regularRan(uid: string, sandboxId: string): boolean {
    const regular = this.#specs.get(uid)?.spec.containers.map((c) => c.name) ?? [];
    return regular.some((name) => this.#everStarted(uid, name, sandboxId));
  }

  #doneIn(sandboxId: string): Set<string> {
    const done = this.#done.get(sandboxId) ?? new Set<string>();
    this.#done.set(sandboxId, done);
    return done;
  }

  #removedAt(uid: string): number | undefined {
    return this.removedAt.get(uid);
  }

  #breach(text: string, at = this.#runtime.clock.elapsed): void {
    this.breaches.push(`${at} ms: ${text}`);
  }
}

/** A call that was in flight when the pod was removed may still be answered: its deadline and the late work after it. */
const LATEST_START = 20_000;
/** Seconds are whole on the wire, and StopContainer gets at least 2 s. */
const GRACE_SLACK = 2_100;
