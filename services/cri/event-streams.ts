import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import type { RuntimeEvent } from '../../machines/runtime.types.ts';
import type { Cri } from './client.ts';
import { criError } from './errors.ts';
import { ms, ownerOf } from './owner.ts';
import { TaskDelete, TaskExit, TaskOOM, TaskStart } from './proto/generated/containerd-events.ts';
import type { Envelope } from './proto/generated/containerd-events.ts';
import { ContainerEventType } from './proto/generated/cri.ts';
import type { ContainerEventResponse } from './proto/generated/cri.ts';
import { getContainerEvents } from './verbs/get-container-events.ts';
import { subscribe } from './verbs/subscribe.ts';
import { version } from './verbs/version.ts';

export interface Follow {
  /** The stream stands: what happens from now on will be told. */
  opened: () => void;
  deliver: (event: RuntimeEvent) => void;
  signal: AbortSignal;
}

export interface EventStream {
  kind: 'cri' | 'containerd';
  /** Follows the stream to its end; answers the error that ended it, `undefined` where the runtime just ended it. */
  follow: (follow: Follow) => Promise<unknown>;
}

/** A refusal comes on the heels of the call; a stream that was not refused this long after another answer stands, ms. */
const SETTLE_MS = 50;

export function criEvents(cri: Cri, now: () => number): EventStream {
  return {
    kind: 'cri',
    follow: (options) =>
      follow(
        cri,
        'GetContainerEvents',
        () => getContainerEvents(cri),
        (e) => criEvent(e, now),
        options,
      ),
  };
}

export function containerdEvents(
  cri: Cri,
  podUidOf: (id: string) => string | undefined,
  now: () => number,
): EventStream {
  const event = (envelope: Envelope) => containerdEvent(envelope, podUidOf, now);
  return { kind: 'containerd', follow: (options) => follow(cri, 'Subscribe', () => subscribe(cri), event, options) };
}

/**
 * Reads one stream. gRPC does not say when a stream without messages is open, so a call after it has to be answered,
 * and a moment to pass.
 */
function follow<T>(
  cri: Cri,
  op: string,
  open: () => ClientReadableStream<T>,
  translate: (message: T) => RuntimeEvent | undefined,
  { opened, deliver, signal }: Follow,
): Promise<unknown> {
  return new Promise((resolve) => {
    let isOpen = false;
    const stream = open();
    const stands = () => {
      if (!isOpen && !over.signal.aborted) opened();
      isOpen = true;
    };
    const over = new AbortController();
    const end = (error: unknown) => {
      over.abort();
      signal.removeEventListener('abort', cut);
      stream.cancel();
      resolve(error);
    };
    const cut = () => end(undefined);
    signal.addEventListener('abort', cut);
    stream.on('data', (message: T) => {
      stands();
      const event = translate(message);
      if (event && !over.signal.aborted) deliver(event);
    });
    stream.on('error', (error: ServiceError) => end(criError(error, op, cri.socket)));
    stream.on('end', () => end(undefined));
    version(cri, over.signal).then(
      () => setTimeout(stands, SETTLE_MS),
      // The stream itself fails as well where the runtime does not answer.
      (error: unknown) => end(error),
    );
  });
}

const CRI_KINDS: Record<ContainerEventType, RuntimeEvent['kind']> = {
  [ContainerEventType.CONTAINER_CREATED_EVENT]: 'created',
  [ContainerEventType.CONTAINER_STARTED_EVENT]: 'started',
  [ContainerEventType.CONTAINER_STOPPED_EVENT]: 'stopped',
  [ContainerEventType.CONTAINER_DELETED_EVENT]: 'deleted',
};

function criEvent(response: ContainerEventResponse, now: () => number): RuntimeEvent {
  const { containerId, containerEventType, createdAt, podSandboxStatus } = response;
  const podUid = ownerOf(podSandboxStatus?.labels ?? {})?.uid;
  const at = createdAt > 0n ? ms(createdAt) : now();
  return { kind: CRI_KINDS[containerEventType], containerId, podUid, at };
}

/**
 * One event of containerd. Containers of no pod and those that the agent has not heard of yet are left out: what it is
 * just making it learns of from its own call. A task's end is told twice, by its exit and by its deletion, after which
 * the CRI plugin's own records are right.
 */
function containerdEvent(
  { topic, event, timestamp }: Envelope,
  podUidOf: (id: string) => string | undefined,
  now: () => number,
): RuntimeEvent | undefined {
  const task = event && taskOf(topic, event.value);
  const podUid = task && podUidOf(task.containerId);
  if (!task || podUid === undefined) return undefined;
  const at = timestamp ? Math.floor(timestamp.getTime()) : now();
  return { ...task, podUid, at };
}

/** The container whose main process an event is about; `undefined` for an exec. */
function taskOf(topic: string, bytes: Uint8Array): Pick<RuntimeEvent, 'kind' | 'containerId' | 'exit'> | undefined {
  switch (topic) {
    case '/tasks/start':
      return { kind: 'started', containerId: TaskStart.decode(bytes).containerId };
    case '/tasks/oom':
      return { kind: 'oom', containerId: TaskOOM.decode(bytes).containerId };
    case '/tasks/exit': {
      const { containerId, id, exitStatus: exitCode, exitedAt } = TaskExit.decode(bytes);
      const exit = exitedAt && { exitCode, finishedAt: exitedAt.getTime() };
      return id === containerId ? { kind: 'stopped', containerId, exit } : undefined;
    }
    case '/tasks/delete': {
      const { containerId, id } = TaskDelete.decode(bytes);
      return id === '' || id === containerId ? { kind: 'stopped', containerId } : undefined;
    }
    default:
      return undefined;
  }
}
