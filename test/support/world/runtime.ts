import { AgentError } from '../../../machines/agent-error.types.ts';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import type { CreateContainerInput } from '../../../machines/pod/container.types.ts';
import { containerHash } from '../../../machines/pod/policy/container-hash.ts';
import type {
  ObservedContainer,
  ObservedPod,
  ObservedSandbox,
  RuntimeEvent,
  RuntimeListing,
} from '../../../machines/runtime.types.ts';
import type { VirtualClock } from './clock.ts';
import type { Random } from './random.ts';

/** How often calls misbehave, as probabilities of one call. All zero: a perfect runtime. */
export interface Faults {
  /** Refused at once, nothing done. */
  fails: number;
  /** Done, but the answer is an error. */
  doneButFails: number;
  /** The deadline passes without an answer; the work is done after it. */
  late: number;
  /** The deadline passes, nothing is done. */
  hangs: number;
  /** A stream event is lost / told twice. */
  eventLost: number;
  eventDoubled: number;
}

/** How one call goes. */
export type Fate = 'works' | Exclude<keyof Faults, 'eventLost' | 'eventDoubled'>;

/** Who makes a call; one that is dead by the time at which the work is done has not been there to hear of it. */
export interface Caller {
  dead: boolean;
}

export interface CallOptions {
  deadlineMs?: number;
  signal?: AbortSignal;
  caller?: Caller;
  /** What the call is about: an id, an image. */
  about?: string;
}

export const NO_FAULTS: Faults = { fails: 0, doneButFails: 0, late: 0, hangs: 0, eventLost: 0, eventDoubled: 0 };

/** One line of the independent ledger: what the runtime was asked and did, as a witness beside the agent. */
export interface LedgerLine {
  at: number;
  what: string;
  podUid: string;
  fullName: string;
  container?: string;
  id?: string;
  attempt?: number;
  graceSeconds?: number;
  sandboxId?: string;
  /** Done for a caller that was dead by then. */
  posthumous?: boolean;
  /** Done after its deadline: the caller was told that nobody knows. */
  late?: boolean;
}

interface SimContainer extends Omit<ObservedContainer, 'at'> {
  podUid: string;
  fullName: string;
  ignoresTerm: boolean;
  exitAfterMs?: number;
  exitWith: number;
  timer?: number;
}
interface SimSandbox extends Omit<ObservedSandbox, 'at'> {
  podUid: string;
  name: string;
  namespace: string;
  podSpec: DesiredPod;
}

/** Period of the listing that finds what the event stream did not tell of, ms. */
export const AUDIT_MS = 60_000;
/** Deadline of a simulated call, ms. */
const DEADLINE = 10_000;

/**
 * A CRI runtime in memory. A container's program stands in its command: `['run']`, `['exit', code, afterMs]`, with
 * `ignoreTerm` as a last word. It outlives the agent: kill the agent and the calls it had made still happen.
 */
export class SimRuntime {
  readonly sandboxes = new Map<string, SimSandbox>();
  readonly containers = new Map<string, SimContainer>();
  readonly ledger: LedgerLine[] = [];
  faults: Faults = { ...NO_FAULTS };
  up = true;
  networkReady = true;
  /** Images that a pull fails for. */
  readonly absentImages = new Set<string>();
  readonly images = new Set<string>();
  onEvent: ((event: RuntimeEvent) => void) | undefined;
  onLedger: ((line: LedgerLine) => void) | undefined;
  /** Told of every call that is made. */
  onCall: ((op: string) => void) | undefined;
  /** Says how a call goes, for scripted lives; undefined leaves it to chance. */
  script: ((op: string, about: string | undefined) => Fate | undefined) | undefined;
  #caller: Caller | undefined;
  #late = false;
  #ids = 0;
  readonly #reserved = new Map<string, string>();

  readonly clock: VirtualClock;
  readonly random: Random;

  constructor(clock: VirtualClock, random: Random) {
    this.clock = clock;
    this.random = random;
  }

  /** A call: latency, a fault by chance, the work at its time. An aborted read is dropped; a mutating call is not. */
  call<T>(op: string, work: () => T, options: CallOptions = {}): Promise<T> {
    const { random, clock } = this;
    const deadline = options.deadlineMs ?? DEADLINE;
    const latency = random.between(1, 40);
    const dice = random.next();
    const fate = this.script?.(op, options.about) ?? this.#fate(dice);
    const error = (reason: string, message = `${op}: ${reason}`) =>
      new AgentError({ op, reason, message, transient: true });
    this.onCall?.(op);
    return new Promise<T>((resolve, reject) => {
      options.signal?.addEventListener('abort', () => reject(error('CANCELLED')));
      const after = (ms: number, then: () => void) => void clock.setTimeout(then, ms);
      const fail = (reason: string) => () => reject(error(reason));
      const began = clock.elapsed;
      const run = (then: (result: T) => void) => () => {
        this.#caller = options.caller;
        this.#late = clock.elapsed - began > deadline;
        try {
          then(work());
        } catch (failure) {
          reject(failure as Error);
        } finally {
          this.#caller = undefined;
          this.#late = false;
        }
      };
      if (!this.up) return after(5, fail('UNAVAILABLE'));
      if (fate === 'works') return after(latency, run(resolve));
      if (fate === 'fails') return after(latency, fail('INTERNAL'));
      if (fate === 'doneButFails') return after(latency, run(fail('INTERNAL')));
      after(deadline, fail('DEADLINE_EXCEEDED'));
      if (fate === 'late')
        after(
          deadline + random.between(1, 5_000),
          run(() => undefined),
        );
    });
  }

  #fate(dice: number): Fate {
    let edge = 0;
    for (const fate of ['fails', 'doneButFails', 'late', 'hangs'] as const)
      if (dice < (edge += this.faults[fate])) return fate;
    return 'works';
  }

  runSandbox(pod: DesiredPod, attempt: number): Omit<ObservedSandbox, 'at'> {
    const { uid, name, namespace } = pod.metadata;
    if (!this.networkReady && !pod.spec.hostNetwork) throw this.#error('RunPodSandbox', 'UNKNOWN', 'network not ready');
    const key = `${name}_${namespace}_${uid}_${attempt}`;
    this.#reserve('RunPodSandbox', key, `s${++this.#ids}`);
    const id = this.#reserved.get(key) as string;
    const sandbox: SimSandbox = {
      id,
      attempt,
      state: 'ready',
      createdAt: this.clock.now(),
      network: pod.spec.hostNetwork ? 'node' : 'pod',
      ips: pod.spec.hostNetwork ? [] : [`10.1.0.${this.#ids % 250}`],
      podUid: uid,
      name,
      namespace,
      podSpec: pod,
    };
    this.sandboxes.set(id, sandbox);
    this.#write({ what: 'sandbox.started', podUid: uid, fullName: `${name}_${namespace}`, id, attempt, sandboxId: id });
    return this.#sandboxView(sandbox);
  }

  stopSandbox(id: string): void {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox) return;
    for (const c of this.containers.values()) {
      if (c.sandboxId !== id || c.state !== 'running') continue;
      if (this.#caller) this.#write({ what: 'container.cutOff', ...this.#of(c.id) });
      this.#exit(c, 137);
    }
    if (sandbox.state === 'ready') this.#write({ what: 'sandbox.stopped', ...this.#who(sandbox), id, sandboxId: id });
    sandbox.state = 'notReady';
    sandbox.ips = [];
  }

  removeSandbox(id: string): void {
    this.stopSandbox(id);
    for (const c of [...this.containers.values()]) if (c.sandboxId === id) this.removeContainer(c.id);
    this.sandboxes.delete(id);
    this.#free(id);
  }

  createContainer({ pod, container, attempt, sandbox }: CreateContainerInput): { id: string } {
    const { uid, name, namespace } = pod.metadata;
    if (this.sandboxes.get(sandbox.id)?.state !== 'ready')
      throw this.#error('CreateContainer', 'NOT_FOUND', `sandbox ${sandbox.id} is not ready`);
    const key = `${container.name}_${name}_${namespace}_${uid}_${attempt}`;
    this.#reserve('CreateContainer', key, `c${++this.#ids}`);
    const id = this.#reserved.get(key) as string;
    const command = container.command ?? ['run'];
    this.containers.set(id, {
      id,
      sandboxId: sandbox.id,
      name: container.name,
      attempt,
      state: 'created',
      createdAt: this.clock.now(),
      image: container.image ?? '',
      imageId: `sha256:${container.image}`,
      hash: containerHash(container),
      restartCount: attempt,
      logPath: `/logs/${uid}/${container.name}/${attempt}.log`,
      gracePeriodSeconds: pod.spec.terminationGracePeriodSeconds,
      podUid: uid,
      fullName: `${name}_${namespace}`,
      ignoresTerm: command.at(-1) === 'ignoreTerm',
      exitAfterMs: command[0] === 'exit' ? Number(command[2]) : undefined,
      exitWith: command[0] === 'exit' ? Number(command[1]) : 0,
    });
    this.#write({ what: 'container.created', ...this.#of(id), attempt });
    return { id };
  }

  startContainer(id: string): void {
    const c = this.#container('StartContainer', id);
    if (c.state !== 'created') throw this.#error('StartContainer', 'UNKNOWN', `container ${id} is ${c.state}`);
    if (this.sandboxes.get(c.sandboxId)?.state !== 'ready')
      throw this.#error('StartContainer', 'UNKNOWN', 'sandbox is not ready');
    c.state = 'running';
    c.startedAt = this.clock.now();
    this.#write({ what: 'container.started', ...this.#of(id), attempt: c.attempt });
    this.#tell('started', c);
    if (c.exitAfterMs !== undefined) c.timer = this.clock.setTimeout(() => this.#exit(c, c.exitWith), c.exitAfterMs);
  }

  /** TERM at once, KILL after the grace; resolves when the process is gone. */
  stopContainer(id: string, graceSeconds: number): Promise<void> {
    const c = this.containers.get(id);
    if (!c || c.state === 'exited') return Promise.resolve();
    this.#write({ what: 'container.stopAsked', ...this.#of(id), graceSeconds });
    if (c.state === 'created') return Promise.resolve(this.#exit(c, 0));
    if (!c.ignoresTerm) this.clock.setTimeout(() => this.#exit(c, 0), this.random.between(1, 900));
    this.clock.setTimeout(() => this.#exit(c, 137), graceSeconds * 1000);
    return new Promise((resolve) => {
      const poll = () => (c.state === 'exited' ? resolve() : this.clock.setTimeout(poll, 10));
      poll();
    });
  }

  removeContainer(id: string): void {
    const c = this.containers.get(id);
    if (!c) return;
    if (c.state === 'running') this.#exit(c, 137);
    this.#write({ what: 'container.removed', ...this.#of(id) });
    this.containers.delete(id);
    this.#free(id);
  }

  /** Kills a container's process from outside, as a crash would. */
  crash(id: string, code: number): void {
    const c = this.containers.get(id);
    if (c?.state === 'running') this.#exit(c, code);
  }

  listing(at: number): RuntimeListing {
    const pods = new Map<string, RuntimeListing['pods'][number]>();
    const entry = (uid: string, name: string, namespace: string) => {
      if (!pods.has(uid)) pods.set(uid, { uid, name, namespace, sandboxes: [], containers: [] });
      return pods.get(uid) as RuntimeListing['pods'][number];
    };
    for (const s of this.sandboxes.values())
      entry(s.podUid, s.name, s.namespace).sandboxes.push({ id: s.id, state: s.state });
    for (const c of this.containers.values()) {
      const [name = '', namespace = ''] = c.fullName.split('_');
      entry(c.podUid, name, namespace).containers.push({ id: c.id, state: c.state });
    }
    return { at, pods: [...pods.values()] };
  }

  /** What a look that began at `at`, by its own clock, shows of one pod. */
  podView({ uid, name, namespace }: { uid: string; name: string; namespace: string }, at: number): ObservedPod {
    const sandboxes = [...this.sandboxes.values()].filter((s) => s.podUid === uid);
    const containers = [...this.containers.values()].filter((c) => c.podUid === uid);
    return {
      uid,
      at,
      name: sandboxes[0]?.name ?? name,
      namespace: sandboxes[0]?.namespace ?? namespace,
      sandboxes: sandboxes.sort((a, b) => b.attempt - a.attempt).map((s) => ({ ...this.#sandboxView(s), at })),
      containers: containers
        .sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt)
        .map((c) => this.view(c, at)),
    };
  }

  /** What a ContainerStatus call shows. */
  view(c: SimContainer, at: number): ObservedContainer {
    const { podUid: _p, fullName: _f, ignoresTerm: _i, exitAfterMs: _a, exitWith: _w, timer: _t, ...shown } = c;
    return { ...shown, at };
  }

  #exit(c: SimContainer, code: number): void {
    if (c.state === 'exited') return;
    if (c.timer !== undefined) this.clock.clearTimeout(c.timer);
    c.state = 'exited';
    c.exitCode = code;
    c.reason = code === 0 ? 'Completed' : 'Error';
    c.finishedAt = this.clock.now();
    this.#write({ what: 'container.exited', ...this.#of(c.id), attempt: c.attempt });
    this.#tell('stopped', c);
  }

  #tell(kind: RuntimeEvent['kind'], c: SimContainer): void {
    const event: RuntimeEvent = { kind, containerId: c.id, podUid: c.podUid, at: this.clock.now() };
    if (this.random.chance(this.faults.eventLost)) return;
    const times = this.random.chance(this.faults.eventDoubled) ? 2 : 1;
    for (let i = 0; i < times; i++) this.clock.setTimeout(() => this.onEvent?.(event), this.random.between(1, 20));
  }

  #sandboxView({
    podUid: _u,
    name: _n,
    namespace: _s,
    podSpec: _p,
    ...shown
  }: SimSandbox): Omit<ObservedSandbox, 'at'> {
    return shown;
  }

  #who(s: SimSandbox) {
    return { podUid: s.podUid, fullName: `${s.name}_${s.namespace}` };
  }

  #of(id: string) {
    const c = this.containers.get(id) as SimContainer;
    return { podUid: c.podUid, fullName: c.fullName, container: c.name, id, sandboxId: c.sandboxId };
  }

  #write(line: Omit<LedgerLine, 'at'>): void {
    const full = {
      ...line,
      at: this.clock.elapsed,
      ...(this.#caller?.dead && { posthumous: true }),
      ...(this.#late && { late: true }),
    };
    this.ledger.push(full);
    this.onLedger?.(full);
  }

  #container(op: string, id: string): SimContainer {
    const c = this.containers.get(id);
    if (!c) throw this.#error(op, 'NOT_FOUND', `container ${id} not found`);
    return c;
  }

  #reserve(op: string, key: string, id: string): void {
    const holder = this.#reserved.get(key);
    if (holder) throw this.#error(op, 'NameReserved', `name "${key}" is reserved for "${holder}"`);
    this.#reserved.set(key, id);
  }

  #free(id: string): void {
    for (const [key, holder] of this.#reserved) if (holder === id) this.#reserved.delete(key);
  }

  #error(op: string, reason: string, message: string): AgentError {
    return new AgentError({ op, reason, message, transient: reason !== 'NOT_FOUND' });
  }
}
