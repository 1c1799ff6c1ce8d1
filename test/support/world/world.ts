import { createActor, fromCallback, fromPromise, type ActorRefFrom, type InspectionEvent } from 'xstate';
import { agentClock } from '../../../bin/clock.ts';
import { AgentError } from '../../../machines/agent-error.types.ts';
import type { RecordedEvent } from '../../../machines/agent.types.ts';
import type { DesiredPod, PodStatus } from '../../../machines/kubernetes.types.ts';
import { runtimeHealthMachine } from '../../../machines/node/runtime-health.machine.ts';
import { containerMachine } from '../../../machines/pod/container.machine.ts';
import type { ContainerSlots, KeptStop, KeptStops } from '../../../machines/pod/container.types.ts';
import { imagePullMachine } from '../../../machines/pod/image-pull.machine.ts';
import type { ImagePullSlots } from '../../../machines/pod/image-pull.types.ts';
import { probeMachine } from '../../../machines/pod/probe.machine.ts';
import type { KeptVerdicts, ProbeSlots, RunProbeInput } from '../../../machines/pod/probe.types.ts';
import { podMachine } from '../../../machines/pod/pod.machine.ts';
import type { PodSlots } from '../../../machines/pod/pod.types.ts';
import { volumeMachine } from '../../../machines/pod/volume.machine.ts';
import { housekeepingMachine } from '../../../machines/syncloop/housekeeping.machine.ts';
import { inspectionMachine } from '../../../machines/syncloop/inspection.machine.ts';
import { plegMachine } from '../../../machines/syncloop/pleg.machine.ts';
import { podSourceMachine } from '../../../machines/syncloop/pod-source.machine.ts';
import type {
  PodSourceSlots,
  RawManifest,
  WatchManifestsEvent,
  WatchManifestsInput,
} from '../../../machines/syncloop/pod-source.types.ts';
import { decodeManifest } from '../../../machines/syncloop/policy/decode-pod.ts';
import { syncloopMachine } from '../../../machines/syncloop/syncloop.machine.ts';
import type { PlegSlots, WatchRuntimeEvent } from '../../../machines/syncloop/syncloop.types.ts';
import { nodeView } from '../fixtures.ts';
import { VirtualClock } from './clock.ts';
import { Invariants } from './invariants.ts';
import { Random } from './random.ts';
import { CLUSTER_CHARTS, SimCluster } from './cluster.ts';
import type { ClusterCharts } from './cluster.ts';
import { AUDIT_MS, SimRuntime, type CallOptions } from './runtime.ts';

export const NODE = 'node-1';

export interface Charts extends ClusterCharts {
  pod: typeof podMachine;
  container: typeof containerMachine;
}

/** One run of the agent's process; its clock begins anew with it. */
interface Life {
  dead: boolean;
  now: () => number;
}

/**
 * The whole agent, its runtime, its node and its manifests in one process with virtual time. `start`, `kill` and `start`
 * again as an operator would; what the dead agent had asked of the runtime still happens.
 */
export class World {
  readonly clock = new VirtualClock();
  readonly seed: number;
  readonly random: Random;
  readonly runtime: SimRuntime;
  readonly invariants: Invariants;
  /** Manifest folder: origin → text. */
  readonly manifests = new Map<string, string>();
  /** The last good text of each manifest that is broken now. */
  readonly #lastGood = new Map<string, string>();
  /** Every pod that a manifest ever described, by UID. */
  readonly specs = new Map<string, DesiredPod>();
  /** What the node has on disk and in cgroups, by pod UID. */
  readonly disk = new Set<string>();
  readonly cgroups = new Set<string>();
  readonly mounts = new Set<string>();
  /** Log directories outlive a pod's runtime state: highest attempt by uid/container. */
  readonly logs = new Map<string, number>();
  readonly events: RecordedEvent[] = [];
  /** Terminal statuses that the agent kept, by pod UID. */
  readonly facts = new Map<string, PodStatus>();
  /** Stops that the agent kept, by uid/container, and how far its clock was ahead of the time of the run. */
  readonly stops = new Map<string, KeptStop & { aheadBy: number }>();
  /** What probes found, as the agent kept it, by pod UID. */
  readonly verdicts = new Map<string, KeptVerdicts>();
  /** What a probe of a running container finds; one that throws could not be made. */
  probe: (input: RunProbeInput) => boolean = () => true;
  /** Last good manifests that the agent kept, by origin. */
  readonly kept = new Map<string, string>();
  agent: ActorRefFrom<typeof syncloopMachine> | undefined;
  /** Uncaught errors of the root: each is a bug. */
  readonly crashes: unknown[] = [];
  /** The runtime has an event stream. */
  stream = true;
  hostFails = 0;
  /** What a call of the host fails with, for scripted lives; undefined: it works. */
  hostFault: ((op: string) => string | undefined) | undefined;
  /** Told of every call of the runtime and every state that an actor enters. */
  trace: ((line: string) => void) | undefined;
  #watchers = new Set<() => void>();

  readonly #charts: Charts;

  /** The API server and what is kept of it; undefined: the agent has manifests alone. */
  readonly cluster: SimCluster | undefined;

  /** `charts` replaces charts of the agent, so that a wrong agent can be shown to be caught. */
  constructor(seed: number, charts: Partial<Charts> = {}, options: { cluster?: boolean } = {}) {
    this.#charts = { pod: podMachine, container: containerMachine, ...CLUSTER_CHARTS, ...charts };
    this.seed = seed;
    this.random = new Random(seed);
    if (options.cluster) this.cluster = new SimCluster(this, NODE);
    this.runtime = new SimRuntime(this.clock, this.random);
    this.invariants = new Invariants(this.runtime, this.specs);
    const judge = this.runtime.onLedger;
    this.runtime.onLedger = (line) => {
      this.trace?.(`${line.at} runtime ${JSON.stringify(line)}`);
      judge?.(line);
    };
  }

  /** Writes a manifest; the watch tells of it a moment later. Returns the pod as the agent will know it. */
  put(origin: string, manifest: object): DesiredPod {
    const text = JSON.stringify(manifest);
    const { pods, problems } = decodeManifest(text, origin, { nodeName: NODE, source: 'file' });
    const pod = pods[0];
    if (!pod) throw new Error(`the test's own manifest is wrong: ${problems.join('; ')}`);
    this.#retire(origin);
    this.#lastGood.delete(origin);
    this.specs.set(pod.metadata.uid, pod);
    this.invariants.wanted(pod.metadata.uid);
    this.manifests.set(origin, text);
    this.#changed();
    return pod;
  }

  remove(origin: string): void {
    this.#retire(origin);
    this.#lastGood.delete(origin);
    this.manifests.delete(origin);
    this.#changed();
  }

  /**
   * Writes something that is no manifest over one: what runs goes on by the last good text. Only over one that an agent had
   * read and kept: what none ever read is nobody's last good text.
   */
  spoil(origin: string, text: string): void {
    const good = this.manifests.get(origin);
    if (good === undefined || this.kept.get(origin) !== this.#goodText(origin)) return;
    if (!this.#lastGood.has(origin)) this.#lastGood.set(origin, good);
    this.manifests.set(origin, text);
    this.#changed();
  }

  /** Puts the last good texts back. */
  mend(): void {
    for (const [origin, text] of this.#lastGood) this.manifests.set(origin, text);
    if (this.#lastGood.size) this.#changed();
    this.#lastGood.clear();
  }

  /** The manifest as an object, the last good one where it is broken. */
  manifest(origin: string): object | undefined {
    const text = this.#goodText(origin);
    return text === undefined ? undefined : (JSON.parse(text) as object);
  }

  /** Pods that the folder asks for now. */
  desired(): DesiredPod[] {
    return [...this.manifests.keys()].sort().flatMap((origin) => this.#podsOf(origin));
  }

  #goodText(origin: string): string | undefined {
    return this.#lastGood.get(origin) ?? this.manifests.get(origin);
  }

  #podsOf(origin: string): DesiredPod[] {
    return decodeManifest(this.#goodText(origin) ?? '', origin, { nodeName: NODE, source: 'file' }).pods;
  }

  /** Pods that the folder and the API ask for now: bound to the node, not being deleted, no mirror pods. */
  wanted(): DesiredPod[] {
    return [...this.desired(), ...(this.cluster?.bound() ?? [])];
  }

  start(inspect?: (event: InspectionEvent) => void): void {
    const aheadBy = this.clock.now() - this.clock.elapsed;
    // A clock that was set back since gives what is left of a kept deadline anew, up to the whole grace.
    const kept = [...this.stops.values()].filter((stop) => stop.aheadBy <= aheadBy);
    this.invariants.agentStarted(new Set(kept.map(({ id }) => id)));
    const life: Life = { dead: false, now: agentClock(this.clock.now, () => this.clock.elapsed) };
    this.cluster?.agentStarted();
    const agent = createActor(this.#machine(life), {
      clock: this.clock,
      input: {
        env: { now: life.now, elapsed: () => this.clock.elapsed, random: this.random.next },
        nodeName: NODE,
        node: nodeView({ name: NODE }),
        ended: Object.fromEntries(this.facts),
        stops: this.#keptStops(),
        verdicts: Object.fromEntries(this.verdicts),
        sources: [
          { source: 'file', location: '/manifests', periodMs: 20_000 },
          ...(this.cluster ? [{ source: 'api' as const }] : []),
        ],
        settings: {
          pod: {
            backoffInitialMs: 10_000,
            backoffMaxMs: 300_000,
            retryMs: 1_000,
            podRetryMs: 10_000,
            hostIPs: ['192.0.2.1'],
            runtimeName: '',
          },
          pleg: { listPeriodMs: 1_000, auditPeriodMs: AUDIT_MS },
          healthPeriodMs: 5_000,
          housekeepingPeriodMs: 2_000,
          pauseInitialMs: 100,
          pauseMaxMs: 5_000,
          ...(this.cluster && { cluster: this.cluster.settings }),
        },
      },
      inspect: (event) => {
        if (event.type === '@xstate.event') {
          const { event: sent } = event as { event: { type: string; uid?: string; status?: PodStatus } };
          if (sent.type === 'pod.status') this.invariants.status(sent.uid ?? '', sent.status);
          if (sent.type === 'pod.released') this.invariants.finished(sent.uid ?? '');
          if (sent.type.startsWith('xstate.error.actor.') && !this.#isSlot(sent.type)) this.crashes.push(sent);
        }
        if (this.trace && event.type === '@xstate.microstep') this.trace(describe(this.clock.elapsed, event));
        inspect?.(event);
      },
    });
    agent.subscribe({ error: (error) => this.crashes.push(error) });
    agent.on('event.happened', ({ event }) => {
      this.events.push(event);
      this.cluster?.happened(event);
    });
    this.agent = agent;
    this.#lives.set(agent, life);
    agent.start();
  }

  /** kill -9: no answer reaches it any more, its calls go on in the runtime. */
  kill(): void {
    const life = this.agent && this.#lives.get(this.agent);
    if (life) life.dead = true;
    this.#watchers.clear();
    this.runtime.onEvent = undefined;
    this.agent?.stop();
    this.agent = undefined;
  }

  /** kill -9 with the `calls`-th call from now in flight; started again `afterMs` later. */
  killAtCall(calls: number, afterMs: number): void {
    let left = calls;
    this.#listen(() => {
      if (--left > 0) return;
      this.undisturbed();
      this.clock.setTimeout(() => {
        this.kill();
        this.clock.setTimeout(() => this.agent ?? this.start(), afterMs);
      }, 0);
    });
  }

  /** No call ends the agent any more. */
  undisturbed(): void {
    this.#listen(undefined);
  }

  #listen(onCall: (() => void) | undefined): void {
    this.runtime.onCall = onCall;
    if (this.cluster) this.cluster.server.onCall = onCall;
  }

  readonly #lives = new WeakMap<object, Life>();

  #isSlot(type: string): boolean {
    // Errors of invoked effects are answers, not bugs; their ids come from the state that invokes them.
    return /\.actor\.\d+\./.test(type);
  }

  #retire(origin: string): void {
    if (!this.manifests.has(origin)) return;
    for (const pod of this.#podsOf(origin)) this.invariants.unwanted(pod.metadata.uid);
  }

  #changed(): void {
    const all = this.desired();
    for (const { metadata } of all)
      if (all.some((pod) => pod.metadata.name === metadata.name && pod.metadata.uid !== metadata.uid))
        this.invariants.contested(metadata.uid);
    for (const tell of this.#watchers) this.clock.setTimeout(tell, this.random.between(1, 10));
  }

  #keptStops(): Record<string, KeptStops> {
    const stops: Record<string, Record<string, KeptStop>> = {};
    for (const [key, { aheadBy: _aheadBy, ...stop }] of this.stops) {
      const [uid = '', name = ''] = key.split('/');
      stops[uid] = { ...stops[uid], [name]: stop };
    }
    return stops;
  }

  #forgetStops(uid: string): void {
    for (const key of [...this.stops.keys()]) if (key.startsWith(`${uid}/`)) this.stops.delete(key);
    this.verdicts.delete(uid);
  }

  #machine(life: Life) {
    const { runtime, clock } = this;
    /** An answer to an agent that was killed is never seen. */
    const alive = <T>(answer: Promise<T>): Promise<T> =>
      answer.then(
        (value) => (life.dead ? new Promise<T>(() => undefined) : value),
        (error: unknown) => (life.dead ? new Promise<T>(() => undefined) : Promise.reject(error)),
      );
    const call = <T>(op: string, work: () => T, options: CallOptions = {}): Promise<T> =>
      alive(runtime.call(op, work, { ...options, caller: life }));
    const host = (op: string, work: () => void) =>
      alive(
        new Promise<void>((resolve, reject) =>
          clock.setTimeout(
            () => {
              const fault = this.hostFault?.(op);
              if (fault !== undefined)
                return reject(new AgentError({ op, reason: 'HostFault', message: fault, transient: true }));
              if (this.random.chance(this.hostFails))
                return reject(
                  new AgentError({ op, reason: 'EIO', message: `${op}: input/output error`, transient: true }),
                );
              work();
              resolve();
            },
            this.random.between(0, 5),
          ),
        ),
      );
    const observePod = fromPromise(async ({ input, signal }) => {
      const at = life.now();
      return call('ContainerStatus', () => runtime.podView(input, at), { signal, about: input.uid });
    }) as PodSlots['observePod'];
    const lookAt = (id: string) => {
      const at = life.now();
      return call('ContainerStatus', () => {
        const c = runtime.containers.get(id);
        return c && runtime.view(c, at);
      });
    };

    let stopsAsked = 0;
    const newestStop = new Map<string, number>();
    const containerSlots: ContainerSlots = {
      createContainer: fromPromise(({ input }) => {
        const { uid } = input.pod.metadata;
        if (!this.cgroups.has(uid)) this.invariants.breaches.push(`${uid}: a container is made without a cgroup`);
        return call('CreateContainer', () => {
          const made = runtime.createContainer(input);
          this.logs.set(`${uid}/${input.container.name}`, input.attempt);
          return made;
        });
      }),
      startContainer: fromPromise(async ({ input }) => {
        await call('StartContainer', () => runtime.startContainer(input.id));
        const instance = await lookAt(input.id);
        if (!instance)
          throw new AgentError({ op: 'StartContainer', reason: 'NOT_FOUND', message: 'gone', transient: true });
        return instance;
      }),
      stopContainer: fromPromise(async ({ input: { pod, name, ...stop }, signal }) => {
        const { id, gracePeriodSeconds } = stop;
        // As the real one does: what could not be kept keeps from no stop.
        const aheadBy = life.now() - clock.elapsed;
        await host('recordStop', () => this.stops.set(`${pod.metadata.uid}/${name}`, { ...stop, aheadBy })).catch(
          () => undefined,
        );
        signal.throwIfAborted();
        let ended: Promise<void> | undefined;
        const turn = ++stopsAsked;
        await call('StopContainer', () => {
          // Calls on one connection come one after the other, however long each of them is on its way here.
          if (turn < (newestStop.get(id) ?? 0)) return;
          newestStop.set(id, turn);
          ended = runtime.stopContainer(id, gracePeriodSeconds);
        });
        await alive(ended ?? Promise.resolve());
        return lookAt(id);
      }),
      inspectContainer: fromPromise(async ({ input, signal }) => {
        const at = life.now();
        const ref = { uid: input.podUid, name: '', namespace: '' };
        const view = await call('ListContainers', () => runtime.podView(ref, at), { signal });
        return view.containers.filter((c) => c.name === input.name);
      }),
      removeContainer: fromPromise(({ input }) => call('RemoveContainer', () => runtime.removeContainer(input.id))),
    };
    const probeSlots: ProbeSlots = {
      runProbe: fromPromise(({ input, signal }) =>
        call(
          'ExecSync',
          () => {
            const { id, type } = input;
            if (runtime.containers.get(id)?.state !== 'running')
              throw new AgentError({ op: 'ExecSync', reason: 'NOT_FOUND', message: 'not running', transient: true });
            const healthy = this.probe(input);
            this.invariants.probed(id, type, healthy, input.container);
            return { result: healthy ? ('success' as const) : ('failure' as const), message: '' };
          },
          { signal, about: input.id },
        ),
      ),
      keepVerdict: fromPromise(({ input: { podUid, name, verdicts } }) =>
        host('keepVerdict', () => {
          const known = this.verdicts.get(podUid) ?? {};
          const before = known[name]?.id === verdicts.id ? known[name] : {};
          this.verdicts.set(podUid, { ...known, [name]: { ...before, ...verdicts } });
        }).catch((error: unknown) => {
          this.invariants.unkept(verdicts.id);
          throw error;
        }),
      ),
    };
    const imagePullSlots: ImagePullSlots = {
      inspectImage: fromPromise(({ input, signal }) =>
        call(
          'ImageStatus',
          () => (runtime.images.has(input.image) ? { imageRef: `sha256:${input.image}`, sizeBytes: 1000 } : undefined),
          { signal },
        ),
      ),
      takePullTurn: fromPromise(() => alive(Promise.resolve())),
      pullImage: fromPromise(({ input, signal }) =>
        call(
          'PullImage',
          () => {
            const { image } = input;
            if (runtime.absentImages.has(image))
              throw new AgentError({
                op: 'PullImage',
                reason: 'NOT_FOUND',
                message: `${image}: not found`,
                transient: false,
              });
            runtime.images.add(image);
            return { imageRef: `sha256:${image}`, sizeBytes: 1000 };
          },
          { signal, about: input.image },
        ),
      ),
    };
    const podSlots: PodSlots = {
      ensureCgroup: fromPromise(({ input }) => host('cgroup', () => this.cgroups.add(input.pod.metadata.uid))),
      makeDirectories: fromPromise(async ({ input: { pod } }) => {
        await host('directories', () => this.disk.add(pod.metadata.uid));
        const names = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map((c) => c.name);
        return {
          highestLogAttempt: Object.fromEntries(names.map((n) => [n, this.logs.get(`${pod.metadata.uid}/${n}`) ?? -1])),
        };
      }),
      runSandbox: fromPromise(({ input }) =>
        call('RunPodSandbox', () => ({ ...runtime.runSandbox(input.pod, input.attempt), at: life.now() })),
      ),
      stopSandbox: fromPromise(({ input }) => call('StopPodSandbox', () => runtime.stopSandbox(input.id))),
      observePod,
      releasePod: fromPromise(({ input }) =>
        host('release', () => {
          this.#nothingRuns(input.uid, 'volumes and cgroup released');
          this.mounts.delete(input.uid);
          this.cgroups.delete(input.uid);
        }),
      ),
      recordEnd: fromPromise(({ input: { uid, status } }) =>
        host('record', () => {
          if (status?.phase === 'Failed' || status?.phase === 'Succeeded') {
            this.facts.set(uid, status);
            this.#forgetStops(uid);
          }
        }),
      ),
      removePod: fromPromise(async ({ input }) => {
        for (const { id } of input.sandboxes) await call('RemovePodSandbox', () => runtime.removeSandbox(id));
        await host('remove', () => {
          this.disk.delete(input.uid);
          this.facts.delete(input.uid);
          this.#forgetStops(input.uid);
          this.invariants.gone(input.uid);
          for (const key of [...this.logs.keys()]) if (key.startsWith(`${input.uid}/`)) this.logs.delete(key);
        });
      }),
    };
    const plegSlots: PlegSlots = {
      listRuntime: fromPromise(({ signal }) => {
        const at = life.now();
        return call('ListContainers', () => runtime.listing(at), { signal });
      }),
      observePod,
    };
    const sourceSlots: PodSourceSlots = {
      readManifests: fromPromise(() =>
        alive(Promise.resolve([...this.manifests].sort().map(([origin, text]): RawManifest => ({ origin, text })))),
      ),
      recallManifests: fromPromise(() => alive(Promise.resolve(Object.fromEntries(this.kept)))),
      keepManifests: fromPromise(({ input: { keep, forget } }) =>
        host('keep', () => {
          for (const { origin, text } of keep) this.kept.set(origin, text);
          for (const origin of forget) this.kept.delete(origin);
        }),
      ),
    };
    const watchRuntime = fromCallback<{ type: string }, Record<string, never>>(({ sendBack }) => {
      const send = (event: WatchRuntimeEvent) => !life.dead && sendBack(event);
      if (!this.stream) return void send({ type: 'stream.lost', message: 'this runtime has no event stream' });
      send({ type: 'stream.opened', kind: 'cri' });
      runtime.onEvent = (event) => {
        const container = runtime.containers.get(event.containerId);
        // Some streams say how a container ended, ahead of the look that the event leads to.
        if (event.kind === 'stopped' && container?.state === 'exited' && container.exitCode !== 137)
          send({ type: 'runtime.exited', uid: container.podUid, container: runtime.view(container, event.at) });
        send({ type: 'runtime.event', event });
      };
      return () => (runtime.onEvent = undefined);
    });
    const watchManifests = fromCallback<{ type: string }, WatchManifestsInput>(({ sendBack }) => {
      const tell = () => !life.dead && sendBack({ type: 'manifests.changed' } satisfies WatchManifestsEvent);
      this.#watchers.add(tell);
      return () => this.#watchers.delete(tell);
    });

    return syncloopMachine.provide({
      actors: {
        openRuntime: fromPromise(() => call('Version', () => ({ runtimeName: 'sim' }))),
        settleEffects: fromPromise(() => Promise.resolve()),
        ...(this.cluster && { cluster: this.cluster.actor(life, this.#charts) }),
        pod: this.#charts.pod.provide({
          actors: {
            ...podSlots,
            followObjects: fromCallback(() => undefined),
            volume: volumeMachine.provide({
              actors: {
                mountVolume: fromPromise(async ({ input }) => {
                  await host('mount', () => this.mounts.add(input.pod.metadata.uid));
                  return {};
                }),
              },
            }),
            container: this.#charts.container.provide({
              actors: {
                ...containerSlots,
                imagePull: imagePullMachine.provide({ actors: imagePullSlots }),
                probe: probeMachine.provide({ actors: probeSlots }),
              },
            }),
          },
        }),
        pleg: plegMachine.provide({
          actors: {
            listRuntime: plegSlots.listRuntime,
            watchRuntime,
            inspection: inspectionMachine.provide({ actors: { observePod: plegSlots.observePod } }),
          },
        }),
        podSource: podSourceMachine.provide({ actors: { ...sourceSlots, watchManifests } }),
        runtimeHealth: runtimeHealthMachine.provide({
          actors: {
            checkRuntime: fromPromise(({ signal }) =>
              call('Status', () => ({ runtimeReady: true, networkReady: runtime.networkReady, message: '' }), {
                signal,
              }),
            ),
          },
        }),
        housekeeping: housekeepingMachine.provide({
          actors: {
            sweep: fromPromise(async ({ input }) => {
              const gone = (uid: string) => !input.keep.includes(uid);
              const removed = [...this.disk, ...this.cgroups].filter(gone);
              await host('sweep', () => {
                for (const uid of removed) {
                  this.#nothingRuns(uid, 'leftovers swept');
                  this.disk.delete(uid);
                  this.cgroups.delete(uid);
                  this.mounts.delete(uid);
                }
              });
              return { removed };
            }),
          },
        }),
      },
    });
  }

  /** Proof before release: the runtime itself is the witness. */
  #nothingRuns(uid: string, what: string): void {
    for (const c of this.runtime.containers.values())
      if (c.podUid === uid && c.state === 'running')
        this.invariants.breaches.push(`${this.clock.elapsed} ms: ${what} while ${uid}/${c.name} runs`);
  }
}

/** One step of one actor, in one line. */
function describe(elapsed: number, event: InspectionEvent): string {
  const {
    actorRef,
    snapshot,
    event: cause,
  } = event as unknown as {
    actorRef: { id: string; _parent?: { id: string } };
    snapshot: { value?: unknown };
    event: { type: string };
  };
  const parent = actorRef._parent?.id;
  return `${elapsed} ${parent ? `${parent}/` : ''}${actorRef.id} ${cause.type} → ${JSON.stringify(snapshot.value)}`;
}
