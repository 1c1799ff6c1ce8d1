import { EventEmitter, once } from 'node:events';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Metadata, status } from '@grpc/grpc-js';
import type { ClientReadableStream } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { createActor, setup } from 'xstate';
import type { ObservedContainer } from '../../../machines/runtime.types.ts';
import type { WatchRuntimeEvent } from '../../../machines/syncloop/syncloop.types.ts';
import type { Cri } from '../../../services/cri/client.ts';
import { TaskDelete, TaskExit, TaskOOM, TaskStart } from '../../../services/cri/proto/generated/containerd-events.ts';
import { ContainerEventResponse, ContainerEventType } from '../../../services/cri/proto/generated/cri.ts';
import { OwnCalls } from '../../../services/cri/own-calls.ts';
import { watchRuntime } from '../../../services/cri/watch-runtime.ts';

class FakeStream extends EventEmitter {
  cancelled = false;
  cancel() {
    this.cancelled = true;
  }
  fail(code: status, details = status[code] ?? '') {
    this.emit('error', Object.assign(new Error(details), { code, details, metadata: new Metadata() }));
  }
}

const noEnd = (): ObservedContainer | undefined => undefined;

/** A runtime whose streams the test holds; `opened` tells of each one that is asked for. */
function rig({ podUidOf = (id: string): string | undefined => `pod-of-${id}`, ended = noEnd } = {}) {
  const own = new OwnCalls();
  const asked = new EventEmitter();
  const cri = {
    runtimeRequestTimeoutMs: 1000,
    socket: '/run/cri.sock',
    call: () => Promise.resolve({}),
    stream: (method: string) => {
      const stream = new FakeStream();
      setImmediate(() => asked.emit(method, stream));
      return stream as unknown as ClientReadableStream<never>;
    },
  } as unknown as Cri;
  const seen: WatchRuntimeEvent[] = [];
  const told = new EventEmitter();
  const machine = setup({ actors: { watch: watchRuntime(cri, { podUidOf, ended, own }, () => 42) } }).createMachine({
    invoke: { src: 'watch', input: {} },
    on: {
      '*': {
        actions: ({ event }) => {
          seen.push(event as unknown as WatchRuntimeEvent);
          told.emit(event.type);
        },
      },
    },
  });
  const next = async (method: 'getContainerEvents' | 'subscribe') => ((await once(asked, method)) as [FakeStream])[0];
  const actor = createActor(machine);
  const first = next('getContainerEvents');
  actor.start();
  return { seen, told, next, first, own, stop: () => actor.stop() };
}

const stopped = (containerId: string, uid = 'uid-1') =>
  ContainerEventResponse.fromPartial({
    containerId,
    containerEventType: ContainerEventType.CONTAINER_STOPPED_EVENT,
    createdAt: 5_000_000n,
    podSandboxStatus: {
      labels: { 'io.kubernetes.pod.uid': uid, 'io.kubernetes.pod.name': 'n', 'io.kubernetes.pod.namespace': 'd' },
    },
  });
const started = (containerId: string) => ({ ...stopped(containerId), containerEventType: 1 as const });
const envelope = (topic: string, value: Uint8Array) => ({
  topic,
  namespace: 'k8s.io',
  timestamp: new Date(7_000),
  event: { typeUrl: '', value },
});
/** After what was to be sent by then: on a busy machine a timer that is due comes before what waits for its turn. */
const tick = async () => {
  await sleep(5);
  await turn();
};

describe('the watch of the runtime', () => {
  test("tells of CRI's events with their pod and time, and is open from the first one at the latest", async () => {
    const { first, seen, stop } = rig();
    (await first).emit('data', stopped('c1'));
    await tick();
    expect(seen).toEqual([
      { type: 'stream.opened', kind: 'cri' },
      { type: 'runtime.event', event: { kind: 'stopped', containerId: 'c1', podUid: 'uid-1', at: 5 } },
    ]);
    stop();
  });

  test('is open without any event once the runtime has answered and nothing was refused', async () => {
    const { first, told, seen, stop } = rig();
    await first;
    await once(told, 'stream.opened');
    expect(seen).toEqual([{ type: 'stream.opened', kind: 'cri' }]);
    stop();
  });

  test('a flood is told as the newest event of each container', async () => {
    const { first, seen, stop } = rig();
    const stream = await first;
    for (let i = 0; i < 3000; i += 1) stream.emit('data', i % 2 ? stopped(`c${i % 3}`) : started(`c${i % 3}`));
    await tick();
    const events = seen.flatMap((e) => (e.type === 'runtime.event' ? [e.event] : []));
    expect(events.map(({ containerId, kind }) => `${containerId} ${kind}`).sort()).toEqual([
      'c0 stopped',
      'c1 started',
      'c2 stopped',
    ]);
    stop();
  });

  test("falls back on containerd's own events, which name no pod", async () => {
    const { first, next, seen, stop } = rig();
    const stream = await first;
    const fallback = next('subscribe');
    stream.fail(status.UNIMPLEMENTED);
    const events = await fallback;
    events.emit(
      'data',
      envelope('/tasks/start', TaskStart.encode(TaskStart.fromPartial({ containerId: 'a' })).finish()),
    );
    events.emit('data', envelope('/tasks/oom', TaskOOM.encode(TaskOOM.fromPartial({ containerId: 'b' })).finish()));
    const main = TaskExit.fromPartial({ containerId: 'c', id: 'c' });
    const exec = TaskExit.fromPartial({ containerId: 'd', id: 'exec-1' });
    for (const exit of [main, exec]) events.emit('data', envelope('/tasks/exit', TaskExit.encode(exit).finish()));
    const deleted = [
      TaskDelete.fromPartial({ containerId: 'e' }),
      TaskDelete.fromPartial({ containerId: 'd', id: 'exec-1' }),
    ];
    for (const gone of deleted) events.emit('data', envelope('/tasks/delete', TaskDelete.encode(gone).finish()));
    events.emit('data', envelope('/images/create', new Uint8Array()));
    await tick();
    const at = 7_000;
    expect(seen).toEqual([
      { type: 'stream.opened', kind: 'containerd' },
      { type: 'runtime.event', event: { kind: 'started', containerId: 'a', podUid: 'pod-of-a', at } },
      { type: 'runtime.event', event: { kind: 'oom', containerId: 'b', podUid: 'pod-of-b', at } },
      { type: 'runtime.event', event: { kind: 'stopped', containerId: 'c', podUid: 'pod-of-c', at } },
      { type: 'runtime.event', event: { kind: 'stopped', containerId: 'e', podUid: 'pod-of-e', at } },
    ]);
    stop();
  });

  test("containerd's events of what is no pod's are left out", async () => {
    const { first, next, seen, stop } = rig({ podUidOf: () => undefined });
    const stream = await first;
    const fallback = next('subscribe');
    stream.fail(status.UNIMPLEMENTED);
    const exit = TaskExit.encode(TaskExit.fromPartial({ containerId: 'x', id: 'x' })).finish();
    (await fallback).emit('data', envelope('/tasks/exit', exit));
    await tick();
    expect(seen).toEqual([{ type: 'stream.opened', kind: 'containerd' }]);
    stop();
  });

  test('an end that the stream tells in full is told at once; what leads to a look is the deletion that follows', async () => {
    const container = { id: 'c', exitCode: 3 } as ObservedContainer;
    const asked: unknown[] = [];
    const { first, next, seen, stop } = rig({
      ended: ((event: unknown) => {
        asked.push(event);
        return container;
      }) as typeof noEnd,
    });
    const stream = await first;
    const fallback = next('subscribe');
    stream.fail(status.UNIMPLEMENTED);
    const exit = TaskExit.fromPartial({ containerId: 'c', id: 'c', exitStatus: 3, exitedAt: new Date(6_999) });
    const events = await fallback;
    events.emit('data', envelope('/tasks/exit', TaskExit.encode(exit).finish()));
    await tick();
    const event = {
      kind: 'stopped',
      containerId: 'c',
      podUid: 'pod-of-c',
      at: 7_000,
      exit: { exitCode: 3, finishedAt: 6_999 },
    };
    expect(asked).toEqual([event]);
    expect(seen.slice(1)).toEqual([{ type: 'runtime.exited', uid: 'pod-of-c', container }]);
    stop();
  });

  test('what an own call does is told by its answer, not by the stream; an end that it did not ask for is told', async () => {
    const { first, own, seen, stop } = rig();
    const stream = await first;
    const call = Promise.withResolvers<void>();
    const starting = own.during('start', 'c1', () => call.promise);
    stream.emit('data', started('c1'));
    await tick();
    stream.emit('data', stopped('c1'));
    await tick();
    call.resolve();
    await starting;
    const echo = { pod: { uid: 'uid-1', name: 'n', namespace: 'd' }, containers: [], at: 1 };
    own.tell(echo);
    stream.emit('data', started('c1'));
    await tick();
    expect(seen.slice(1).map((e) => (e.type === 'runtime.event' ? e.event.kind : e.type))).toEqual([
      'stopped',
      'runtime.echo',
      'started',
    ]);
    stop();
    own.tell(echo);
    expect(seen).toHaveLength(4);
  });

  test('a runtime without any stream is told of once', async () => {
    const { first, next, seen, stop } = rig();
    const stream = await first;
    const fallback = next('subscribe');
    stream.fail(status.UNIMPLEMENTED);
    (await fallback).fail(status.UNIMPLEMENTED, 'unknown service');
    await tick();
    expect(seen).toEqual([{ type: 'stream.lost', message: 'unknown service' }]);
    stop();
  });

  test('a stream that breaks is told of once and opened again', async () => {
    const { first, next, seen, told, stop } = rig();
    const stream = await first;
    await once(told, 'stream.opened');
    const second = next('getContainerEvents');
    stream.fail(status.UNAVAILABLE, 'connection lost');
    const third = second.then((again) => {
      const after = next('getContainerEvents');
      again.fail(status.UNAVAILABLE, 'still away');
      return after;
    });
    (await third).emit('data', stopped('c1'));
    await tick();
    expect(seen.map((e) => (e.type === 'stream.lost' ? e.message : e.type))).toEqual([
      'stream.opened',
      'GetContainerEvents: the runtime at /run/cri.sock is not available: connection lost',
      'stream.opened',
      'runtime.event',
    ]);
    stop();
  });

  test('a watch that is stopped cancels its stream and tells nothing more', async () => {
    const { first, seen, stop } = rig();
    const stream = await first;
    stream.emit('data', stopped('c1'));
    stop();
    stream.emit('data', stopped('c2'));
    await tick();
    expect(stream.cancelled).toBe(true);
    expect(seen).toEqual([{ type: 'stream.opened', kind: 'cri' }]);
  });
});
