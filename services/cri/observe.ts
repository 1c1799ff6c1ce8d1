import { CONFIG_SOURCE_ANNOTATION } from '../../machines/pod/policy/names.ts';
import type {
  ObservedContainer,
  ObservedPod,
  ObservedSandbox,
  RuntimeEcho,
  RuntimeEvent,
  RuntimeListing,
} from '../../machines/runtime.types.ts';
import type { PodRef } from '../../machines/pod/pod.types.ts';
import type { PodHost } from '../host/host.types.ts';
import type { Cri } from './client.ts';
import { isNotFound } from './errors.ts';
import { ListingBatch } from './listing-batch.ts';
import { ObservedCache } from './observed-cache.ts';
import { OwnCalls } from './own-calls.ts';
import { ContainerState, NamespaceMode, PodSandboxState } from './proto/generated/cri.ts';
import type { Container, ContainerStatus, PodSandbox, PodSandboxStatus } from './proto/generated/cri.ts';
import { CONTAINER_STATES, ms, ownerOf, POD_UID } from './owner.ts';
import { containerStatus } from './verbs/container-status.ts';
import { listContainers } from './verbs/list-containers.ts';
import { podSandboxStatus } from './verbs/pod-sandbox-status.ts';

/** Longest termination message of one container, bytes (container/runtime.go:MaxContainerTerminationMessageLength). */
const MAX_MESSAGE_BYTES = 4096;
/** Exit code of a process that SIGKILL ended. */
const KILLED = 137;

/**
 * CRI answers as the agent's own view (machines/runtime.types.ts). What cannot change any more is kept by id and state,
 * so that a look at a pod that runs costs its share of one listing. Objects without the kubelet's labels are not ours
 * and left out. `at` is the moment before the first call of a look.
 */
export class Observer {
  readonly #cri: Cri;
  readonly #host: Pick<PodHost, 'terminationMessage'>;
  readonly #now: () => number;
  readonly #batch: ListingBatch;
  readonly #cache = new ObservedCache();
  readonly own = new OwnCalls();

  /** @param now wall clock, ms */
  constructor(cri: Cri, host: Pick<PodHost, 'terminationMessage'>, now: () => number) {
    this.#cri = cri;
    this.#host = host;
    this.#now = now;
    this.#batch = new ListingBatch(cri, now);
  }

  /** The pod that a container or sandbox belongs to, as far as it was seen. */
  podUidOf(id: string): string | undefined {
    return this.#cache.podOf(id)?.uid;
  }

  /**
   * A container after an end that the stream told in full, some 100 ms before the runtime's record has it. One by SIGKILL
   * waits for its record: only that says whether it ran out of memory.
   */
  ended({ kind, containerId, exit, at }: RuntimeEvent): ObservedContainer | undefined {
    const running = this.#cache.container(containerId, 'running');
    if (kind !== 'stopped' || !exit || !running || exit.exitCode === KILLED) return undefined;
    return { ...running, ...endOf(exit), at };
  }

  /** A sandbox or container that an own call has made, before any listing shows it. */
  remember(id: string, { uid, name, namespace }: PodRef, sandboxId?: string): void {
    this.#cache.remember(id, { pod: { uid, name, namespace }, sandboxId, at: this.#now() });
    if (sandboxId !== undefined) this.#tell(id, { containers: [{ id, state: 'created' }] });
  }

  /** An own call has stopped a sandbox; the runtime lists it until it is removed. */
  sandboxStopped(id: string): void {
    this.#tell(id, { sandboxes: [{ id, state: 'notReady' }] });
  }

  /** An own call has removed a sandbox or container. */
  removed(id: string): void {
    this.#tell(id, { gone: [id] });
  }

  #tell(id: string, shown: Omit<RuntimeEcho, 'pod' | 'at'>, at = this.#now()): void {
    const pod = this.#cache.podOf(id);
    if (pod) this.own.tell({ pod, ...shown, at });
  }

  /** Everything that the runtime has, in brief: ListPodSandbox and ListContainers. */
  async listRuntime(signal: AbortSignal): Promise<RuntimeListing> {
    const { at, sandboxes, containers } = await this.#batch.listAll(signal);
    this.#cache.keepOnly([...sandboxes, ...containers], at);
    const pods = new Map<string, RuntimeListing['pods'][number]>();
    const podOf = (labels: Record<string, string>) => {
      const owner = ownerOf(labels);
      if (!owner) return undefined;
      const pod = pods.get(owner.uid) ?? { ...owner, sandboxes: [], containers: [] };
      pods.set(owner.uid, pod);
      return pod;
    };
    for (const { id, labels, state } of sandboxes) podOf(labels)?.sandboxes.push({ id, state: sandboxState(state) });
    for (const { id, labels, state } of containers)
      podOf(labels)?.containers.push({ id, state: CONTAINER_STATES[state] });
    return { at, pods: [...pods.values()] };
  }

  /** One pod in full, fresh; empty lists where the runtime has nothing of it. */
  async observePod({ uid, name, namespace }: PodRef, signal: AbortSignal): Promise<ObservedPod> {
    const listed = await this.#batch.listPod(uid, signal);
    const { at } = listed;
    const [sandboxes, containers] = await Promise.all([
      Promise.all(listed.sandboxes.map((sandbox) => this.#observeSandbox(sandbox, at, signal))),
      Promise.all(listed.containers.map((container) => this.#observeListed(container, at, signal))),
    ]);
    return { uid, name, namespace, sandboxes: newestFirst(sandboxes), containers: newestFirst(containers), at };
  }

  /** All instances of one container of a pod, fresh, newest first. */
  async observeInstances(podUid: string, name: string, signal: AbortSignal): Promise<ObservedContainer[]> {
    const at = this.#now();
    const labels = { [POD_UID]: podUid, 'io.kubernetes.container.name': name };
    const listed = await listContainers(this.#cri, { labels }, signal);
    return newestFirst(await Promise.all(listed.map((container) => this.#observeListed(container, at, signal))));
  }

  /** Every container that runs, of any pod: one listing, and a look at those that were not seen running before. */
  async observeRunning(signal: AbortSignal): Promise<ObservedContainer[]> {
    const at = this.#now();
    const listed = await listContainers(this.#cri, { state: ContainerState.CONTAINER_RUNNING }, signal);
    const own = listed.filter(({ labels }) => ownerOf(labels) !== undefined);
    return newestFirst(await Promise.all(own.map((container) => this.#observeListed(container, at, signal))));
  }

  /** One container, fresh, after an own call; `undefined` where the runtime no longer has it. */
  async observeContainer(id: string, signal: AbortSignal): Promise<ObservedContainer | undefined> {
    const at = this.#now();
    const container = await this.#observeById(id, at, signal);
    this.#tell(id, container ? { containers: [{ id, state: container.state }] } : { gone: [id] }, at);
    return container;
  }

  async #observeById(id: string, at: number, signal: AbortSignal): Promise<ObservedContainer | undefined> {
    const sandboxId = this.#cache.sandboxOf(id);
    if (sandboxId === undefined) {
      const [listed] = await listContainers(this.#cri, { id }, signal);
      return listed && this.#observeListed(listed, at, signal);
    }
    return this.#inspect(id, sandboxId, at, signal);
  }

  /** One sandbox, fresh, after an own call. @throws AgentError `NOT_FOUND` */
  async observeSandbox(id: string, signal: AbortSignal): Promise<ObservedSandbox> {
    const at = this.#now();
    const sandbox = await this.#inspectSandbox(id, at, signal);
    this.#tell(id, { sandboxes: [{ id, state: sandbox.state }] }, at);
    return sandbox;
  }

  async #inspectSandbox(id: string, at: number, signal: AbortSignal): Promise<ObservedSandbox> {
    const sandbox = observedSandbox(await podSandboxStatus(this.#cri, id, signal), at);
    this.#cache.keepSandbox(sandbox);
    return sandbox;
  }

  async #observeSandbox(listed: PodSandbox, at: number, signal: AbortSignal): Promise<ObservedSandbox | undefined> {
    this.#cache.learn(listed, at);
    const kept = this.#cache.sandbox(listed.id, sandboxState(listed.state));
    if (kept) return { ...kept, at };
    return ifThere(() => this.#inspectSandbox(listed.id, at, signal));
  }

  async #observeListed(listed: Container, at: number, signal: AbortSignal): Promise<ObservedContainer | undefined> {
    this.#cache.learn(listed, at);
    const kept = this.#cache.container(listed.id, CONTAINER_STATES[listed.state]);
    return kept ? { ...kept, at } : this.#inspect(listed.id, listed.podSandboxId, at, signal);
  }

  #inspect(id: string, sandboxId: string, at: number, signal: AbortSignal): Promise<ObservedContainer | undefined> {
    return ifThere(async () => {
      const status = await containerStatus(this.#cri, id, signal);
      const container = observedContainer(status, sandboxId, at);
      const observed = container.state === 'exited' ? await this.#withMessage(container, status) : container;
      this.#cache.keepContainer(observed);
      return observed;
    });
  }

  /** The runtime's message, then what the container left to say (kuberuntime_container.go:getTerminationMessage). */
  async #withMessage(container: ObservedContainer, status: ContainerStatus): Promise<ObservedContainer> {
    const { annotations, exitCode, logPath, mounts } = status;
    const path = annotations['io.kubernetes.container.terminationMessagePath'];
    const left = await this.#host.terminationMessage({
      hostPath: mounts.find(({ containerPath }) => path !== undefined && containerPath === path)?.hostPath,
      policy: annotations['io.kubernetes.container.terminationMessagePolicy'] ?? '',
      exitCode,
      logPath,
      maxBytes: MAX_MESSAGE_BYTES,
    });
    const message = [container.message, left].filter(Boolean).join(': ');
    return { ...container, message: message || undefined };
  }
}

function sandboxState(state: PodSandboxState): ObservedSandbox['state'] {
  return state === PodSandboxState.SANDBOX_READY ? 'ready' : 'notReady';
}

function observedSandbox(status: PodSandboxStatus, at: number): ObservedSandbox {
  const state = sandboxState(status.state);
  const network = status.linux?.namespaces?.options?.network === NamespaceMode.NODE ? 'node' : 'pod';
  const all = [status.network?.ip ?? '', ...(status.network?.additionalIps ?? []).map(({ ip }) => ip)];
  return {
    id: status.id,
    attempt: status.metadata?.attempt ?? 0,
    state,
    createdAt: ms(status.createdAt),
    network,
    ips: state === 'ready' && network === 'pod' ? all.filter((ip) => ip !== '') : [],
    source: status.annotations[CONFIG_SOURCE_ANNOTATION],
    at,
  };
}

function observedContainer(status: ContainerStatus, sandboxId: string, at: number): ObservedContainer {
  const { annotations } = status;
  const state = CONTAINER_STATES[status.state];
  const attempt = status.metadata?.attempt ?? 0;
  const grace =
    annotations['io.kubernetes.pod.deletionGracePeriod'] ?? annotations['io.kubernetes.pod.terminationGracePeriod'];
  return {
    id: status.id,
    sandboxId,
    name: status.labels['io.kubernetes.container.name'] ?? status.metadata?.name ?? '',
    attempt,
    state,
    createdAt: ms(status.createdAt),
    startedAt: status.startedAt > 0n ? ms(status.startedAt) : undefined,
    ...(state === 'exited' && endOf({ ...status, finishedAt: ms(status.finishedAt) })),
    message: status.message || undefined,
    image: status.image?.image ?? '',
    imageId: status.imageRef,
    hash: annotations['io.kubernetes.container.hash'] ?? '',
    restartCount: wholeNumber(annotations['io.kubernetes.container.restartCount']) ?? attempt,
    logPath: status.logPath,
    gracePeriodSeconds: wholeNumber(grace),
    at,
  };
}

function endOf({ exitCode, finishedAt, reason }: { exitCode: number; finishedAt: number; reason?: string }) {
  return { state: 'exited', finishedAt, exitCode, reason: reason || (exitCode === 0 ? 'Completed' : 'Error') } as const;
}

/** An annotation that somebody else may have written. */
function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** What went away between the listing and the look is not there. */
async function ifThere<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function newestFirst<T extends { attempt: number; createdAt: number }>(items: readonly (T | undefined)[]): T[] {
  return items.filter((item) => item !== undefined).sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt);
}
