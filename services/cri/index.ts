import { fromPromise } from 'xstate';
import type { Container, DesiredPod } from '../../machines/kubernetes.types.ts';
import type { EnvironmentVariable } from '../../machines/pod/policy/expand.ts';
import type { ContainerSlots, CurrentSandbox, KeptStop } from '../../machines/pod/container.types.ts';
import type { ImagePullSlots } from '../../machines/pod/image-pull.types.ts';
import type { PodSlots } from '../../machines/pod/pod.types.ts';
import type {
  HousekeepingSlots,
  PlegSlots,
  RuntimeHealthSlots,
  SyncloopSlots,
} from '../../machines/syncloop/syncloop.types.ts';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { PodHost } from '../host/host.types.ts';
import type { Cri } from './client.ts';
import { containerConfig, podSandboxConfig } from './configs.ts';
import type { ConfigSettings } from './configs.ts';
import { ImageTurns } from './image-turns.ts';
import type { PullSettings } from './image-turns.ts';
import type { Observer } from './observe.ts';
import type { DNSConfig } from './proto/generated/cri.ts';
import { needsImageUser } from './security.ts';
import { sweepRuntime } from './sweep.ts';
import type { Turns } from './turns.ts';
import { createContainer } from './verbs/create-container.ts';
import { imageStatus } from './verbs/image-status.ts';
import { pullImage } from './verbs/pull-image.ts';
import { removeContainer } from './verbs/remove-container.ts';
import { removePodSandbox } from './verbs/remove-pod-sandbox.ts';
import { runPodSandbox } from './verbs/run-pod-sandbox.ts';
import { startContainer } from './verbs/start-container.ts';
import { status } from './verbs/status.ts';
import { stopContainer } from './verbs/stop-container.ts';
import { stopPodSandbox } from './verbs/stop-pod-sandbox.ts';
import { version } from './verbs/version.ts';

/** What the effects of pods and containers work with. One of each for the whole agent. */
export interface CriServices {
  cri: Cri;
  host: PodHost;
  observer: Observer;
  turns: Turns;
  settings: ConfigSettings;
  /** The resolver of a pod's containers. */
  resolver: (pod: DesiredPod) => Promise<DNSConfig>;
  /**
   * The variables of a container in its sandbox.
   *
   * @throws Error or AgentError where it cannot be made: an object or key that is missing
   */
  environment: (
    pod: DesiredPod,
    container: Container,
    sandbox: CurrentSandbox,
    signal: AbortSignal,
  ) => Promise<EnvironmentVariable[]>;
  /** Keeps a stop, before it is asked for, for an agent that is started before its end. Never rejects. */
  recordStop: (podUid: string, name: string, stop: KeptStop) => Promise<void>;
}

/** What CreateContainer may fail with before it reaches the runtime: the pod's spec is at fault. */
const CONFIG_ERROR = 'CreateContainerConfigError';

async function sandboxConfig(services: CriServices, pod: DesiredPod, attempt: number) {
  const { host, resolver, settings } = services;
  const place = { attempt, cgroupParent: host.cgroupParent(pod), logDirectory: host.logDirectory(pod) };
  return podSandboxConfig(pod, { ...place, dns: await resolver(pod) }, settings);
}

/** The effects of a container. Calls that change something go on when their actor is stopped (docs/adr/0005). */
export function containerSlots(services: CriServices): ContainerSlots {
  const { cri, host, observer, turns, settings, environment, recordStop } = services;
  const { own } = observer;
  return {
    createContainer: fromPromise(async ({ input: { pod, container, attempt, sandbox, imageRef }, signal }) => {
      const [variables, { mounts }, image, forSandbox] = await Promise.all([
        configured(() => environment(pod, container, sandbox, signal)),
        host.prepareContainer(pod, container, attempt, signal),
        needsImageUser(pod, container) ? imageStatus(cri, imageRef, signal) : undefined,
        sandboxConfig(services, pod, sandbox.attempt),
      ]);
      const place = { attempt, imageRef, image, mounts, environment: variables };
      const config = await configured(() => containerConfig(pod, container, place, settings));
      const create = () => createContainer(cri, sandbox.id, config, forSandbox, signal);
      const id = await turns.take('container', () => own.during('make', pod.metadata.uid, create), signal);
      observer.remember(id, pod.metadata, sandbox.id);
      return { id };
    }),

    startContainer: fromPromise(async ({ input: { pod, container, id }, signal }) => {
      const start = () => startContainer(cri, id, signal);
      await turns.take('container', () => own.during('start', id, start), signal);
      const started = await observer.observeContainer(id, signal);
      if (!started) {
        const message = `container ${id} was removed while it was started`;
        throw new AgentError({ op: 'StartContainer', reason: 'RunContainerError', message, transient: true });
      }
      await host.linkContainerLog(pod, container, started.attempt, id);
      return started;
    }),

    stopContainer: fromPromise(async ({ input: { pod, name, ...stop }, signal }) => {
      const { id, gracePeriodSeconds } = stop;
      await recordStop(pod.metadata.uid, name, stop);
      // A stop in less time has taken its place: asked for after that one, it would give the longer time again.
      signal.throwIfAborted();
      await own.during('stop', id, () => stopContainer(cri, id, gracePeriodSeconds, signal));
      return await observer.observeContainer(id, signal);
    }),

    inspectContainer: fromPromise(({ input: { podUid, name }, signal }) =>
      observer.observeInstances(podUid, name, signal),
    ),

    removeContainer: fromPromise(async ({ input: { id, logPath }, signal }) => {
      await removeContainer(cri, id, signal);
      observer.removed(id);
      await host.removeContainerLog(id, logPath);
    }),
  };
}

/** What fails here is the container's configuration, whoever said so; other containers of the pod go on. */
async function configured<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    const { message, transient } = AgentError.from(error, 'CreateContainer');
    throw new AgentError({ op: 'CreateContainer', reason: CONFIG_ERROR, message, transient, cause: error });
  }
}

/** The effects of a pod: those of the runtime here, those of the node by the host. Its facts (`recordEnd`) are not here. */
export function podSlots(services: CriServices): Omit<PodSlots, 'recordEnd'> {
  const { cri, host, observer, turns } = services;
  const { own } = observer;
  return {
    ensureCgroup: fromPromise(({ input: { pod }, signal }) =>
      turns.take('prepare', () => host.ensureCgroup(pod, signal), signal),
    ),
    makeDirectories: fromPromise(({ input: { pod }, signal }) => host.makeDirectories(pod, signal)),

    runSandbox: fromPromise(async ({ input: { pod, attempt }, signal }) => {
      const config = await sandboxConfig(services, pod, attempt);
      const run = () => runPodSandbox(cri, config, signal);
      const id = await turns.take('sandbox', () => own.during('make', pod.metadata.uid, run), signal);
      observer.remember(id, pod.metadata);
      return await observer.observeSandbox(id, signal);
    }),

    stopSandbox: fromPromise(async ({ input: { id }, signal }) => {
      const stop = () => stopPodSandbox(cri, id, signal);
      await turns.take('teardown', () => own.during('stop', id, stop), signal);
      observer.sandboxStopped(id);
    }),
    observePod: fromPromise(({ input, signal }) => observer.observePod(input, signal)),
    releasePod: fromPromise(({ input: { pod, leftovers, ...ref }, signal }) =>
      host.releasePod(ref, pod, signal, leftovers),
    ),

    removePod: fromPromise(async ({ input: { uid, name, namespace, pod, containers, sandboxes }, signal }) => {
      const ref = { uid, name, namespace };
      const remove = async () => {
        for (const { id } of containers) await removeContainer(cri, id, signal);
        for (const { id } of sandboxes) await removePodSandbox(cri, id, signal);
      };
      await turns.take('teardown', remove, signal);
      for (const { id } of [...containers, ...sandboxes]) observer.removed(id);
      await Promise.all(containers.map(({ id, logPath }) => host.removeContainerLog(id, logPath)));
      await host.removePodData(ref, pod, signal);
    }),
  };
}

/** The effects of an image pull; one set for the whole agent, because its turns are the node's. */
export function imagePullSlots(services: CriServices, settings: PullSettings): ImagePullSlots {
  const { cri } = services;
  const turns = new ImageTurns<{ imageRef: string; sizeBytes: number }>(settings);
  const inspect = async (image: string, signal: AbortSignal) => {
    const found = await imageStatus(cri, image, signal);
    return found && { imageRef: found.id, sizeBytes: Number(found.size) };
  };
  return {
    inspectImage: fromPromise(({ input: { image }, signal }) => inspect(image, signal)),
    takePullTurn: fromPromise(({ input: { image, podUid }, signal }) => turns.wait(image, podUid, signal)),
    pullImage: fromPromise(async ({ input: { pod, image }, signal }) => {
      const config = await sandboxConfig(services, pod, 0);
      const pull = async (cut: AbortSignal) => {
        const imageRef = await pullImage(cri, image, config, cut);
        return { imageRef, sizeBytes: (await inspect(imageRef, cut))?.sizeBytes ?? 0 };
      };
      return await turns.pull(image, pod.metadata.uid, pull, signal);
    }),
  };
}

/** The looks of pleg. */
export function plegSlots({ observer }: Pick<CriServices, 'observer'>): PlegSlots {
  return {
    listRuntime: fromPromise(({ signal }) => observer.listRuntime(signal)),
    observePod: fromPromise(({ input, signal }) => observer.observePod(input, signal)),
  };
}

/** The sweep of housekeeping: in the runtime first, so that no directory goes before what writes to it. */
export function housekeepingSlots(
  services: Pick<CriServices, 'cri' | 'host' | 'observer'>,
  sweepKept: (keep: ReadonlySet<string>) => Promise<void> = () => Promise.resolve(),
): HousekeepingSlots {
  return {
    sweep: fromPromise(async ({ input, signal }) => {
      const keep = new Set(input.keep);
      const dead = await sweepRuntime(services, keep, signal);
      const removed = [...dead, ...(await services.host.sweep(keep, signal))];
      await sweepKept(keep);
      return { removed };
    }),
  };
}

/** The check of runtimeHealth: a runtime that does not say RuntimeReady or NetworkReady lacks it (kubelet.go:updateRuntimeUp). */
export function runtimeHealthSlots({ cri }: Pick<CriServices, 'cri'>): RuntimeHealthSlots {
  return {
    checkRuntime: fromPromise(async ({ signal }) => {
      const conditions = (await status(cri, signal)).status?.conditions ?? [];
      const wanted = ['RuntimeReady', 'NetworkReady'] as const;
      const [runtime, network] = wanted.map((type) => conditions.find((condition) => condition.type === type));
      const lacking = [runtime, network].flatMap((condition, i) =>
        condition?.status
          ? []
          : [`${wanted[i]}=false reason:${condition?.reason ?? ''} message:${condition?.message ?? ''}`],
      );
      return {
        runtimeReady: runtime?.status === true,
        networkReady: network?.status === true,
        message: lacking.join('; '),
      };
    }),
  };
}

/** Opening and leaving the runtime. */
export function runtimeSlots(
  { cri }: Pick<CriServices, 'cri'>,
  { settleMs, settled }: { settleMs: number; settled: () => Promise<unknown> },
): SyncloopSlots {
  return {
    openRuntime: fromPromise(async ({ signal }) => ({ runtimeName: (await version(cri, signal)).runtimeName })),
    settleEffects: fromPromise(async () => {
      const over = Promise.withResolvers<void>();
      const timer = setTimeout(over.resolve, settleMs);
      await Promise.race([settled(), over.promise]);
      clearTimeout(timer);
    }),
  };
}
