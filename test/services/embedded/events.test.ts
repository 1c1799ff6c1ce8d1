import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClientReadableStream } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';

import type { ContainerEventResponse } from '../../../services/cri/proto/generated/cri.ts';
import { ContainerEventType, ContainerState } from '../../../services/cri/proto/generated/cri.ts';
import { Bench, call, until } from './client.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
});
afterEach(() => bench.stop());

interface Subscription {
  stream: ClientReadableStream<ContainerEventResponse>;
  events: ContainerEventResponse[];
}

/** Subscribed when it resolves: nothing that happens afterwards is missed. */
async function subscribe(): Promise<Subscription> {
  const stream = bench.client.getContainerEvents({});
  const events: ContainerEventResponse[] = [];
  stream.on('data', (event: ContainerEventResponse) => events.push(event));
  stream.on('error', () => undefined);
  await new Promise((resolve) => stream.once('metadata', resolve));
  return { stream, events };
}

const kinds = (events: ContainerEventResponse[], id: string): number[] =>
  events.filter((event) => event.containerId === id).map((event) => event.containerEventType);
const { CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } =
  ContainerEventType;
const WHOLE_LIFE = [CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT];

async function liveAndDie(): Promise<{ sandboxId: string; id: string }> {
  const sandboxId = await bench.sandbox();
  const id = await bench.shell('exit 5', {}, sandboxId);
  await bench.exited(id);
  await call(bench.client.removeContainer, bench.client, { containerId: id });
  await call(bench.client.removePodSandbox, bench.client, { podSandboxId: sandboxId });
  return { sandboxId, id };
}

describe('the event stream', () => {
  test('tells the life of sandbox and container in order, to every subscriber', async () => {
    const subscriptions = [await subscribe(), await subscribe()];
    const { sandboxId, id } = await liveAndDie();
    for (const { events, stream } of subscriptions) {
      await until(() => (kinds(events, sandboxId).length === WHOLE_LIFE.length ? true : undefined));
      expect(kinds(events, sandboxId)).toEqual(WHOLE_LIFE);
      expect(kinds(events, id)).toEqual(WHOLE_LIFE);
      stream.cancel();
    }
  });

  test('carries the state of the pod after the change', async () => {
    const { events, stream } = await subscribe();
    const { sandboxId, id } = await liveAndDie();
    const stopped = await until(() =>
      events.find((event) => event.containerId === id && event.containerEventType === CONTAINER_STOPPED_EVENT),
    );
    expect(stopped.podSandboxStatus?.id).toBe(sandboxId);
    expect(stopped.containersStatuses).toMatchObject([{ id, state: ContainerState.CONTAINER_EXITED, exitCode: 5 }]);
    stream.cancel();
  });

  test('ends with the server, and works anew with the next one', async () => {
    const { stream } = await subscribe();
    const ended = new Promise<{ code: number }>((resolve) => stream.once('status', resolve));
    await bench.restart('leave');
    expect((await ended).code).not.toBe(status.OK);
    const { events, stream: next } = await subscribe();
    const { id } = await liveAndDie();
    await until(() => (kinds(events, id).length === WHOLE_LIFE.length ? true : undefined));
    next.cancel();
  });

  test('loses or doubles an event on demand', async () => {
    const { events, stream } = await subscribe();
    const is = (kind: number) => (event: ContainerEventResponse) =>
      event.containerEventType === kind && event.containerId !== event.podSandboxStatus?.id;
    const { faults } = bench.runtime;
    faults.add({ method: 'ContainerEvent', match: is(CONTAINER_STARTED_EVENT), hang: true, times: 1 });
    faults.add({ method: 'ContainerEvent', match: is(CONTAINER_STOPPED_EVENT), after: true, times: 1 });
    const { sandboxId, id } = await liveAndDie();
    await until(() => (kinds(events, sandboxId).length === WHOLE_LIFE.length ? true : undefined));
    expect(kinds(events, id)).toEqual([
      CONTAINER_CREATED_EVENT,
      CONTAINER_STOPPED_EVENT,
      CONTAINER_STOPPED_EVENT,
      CONTAINER_DELETED_EVENT,
    ]);
    stream.cancel();
  });

  test('ends for a subscriber that does not read, and for no other', async () => {
    const slow = await subscribe();
    const quick = await subscribe();
    slow.stream.pause();
    const ended = new Promise<{ code: number }>((resolve) => slow.stream.once('status', resolve));
    const over = (): boolean => bench.runtime.faults.calls('GetContainerEvents')[0]?.outcome !== undefined;
    const liveBriefly = async (): Promise<void> => {
      const podSandboxId = await bench.sandbox(bench.sandboxConfig({ labels: { padding: 'x'.repeat(1_000) } }));
      await call(bench.client.removePodSandbox, bench.client, { podSandboxId });
    };
    while (!over()) await Promise.all(Array.from({ length: 25 }, liveBriefly));
    slow.stream.resume();
    expect((await ended).code).toBe(status.RESOURCE_EXHAUSTED);
    const { sandboxId } = await liveAndDie();
    await until(() => (kinds(quick.events, sandboxId).length === WHOLE_LIFE.length ? true : undefined));
    quick.stream.cancel();
  });

  test('is refused on demand', async () => {
    const fail = { code: status.UNIMPLEMENTED, message: 'no events here' };
    bench.runtime.faults.add({ method: 'GetContainerEvents', fail, times: 1 });
    const stream = bench.client.getContainerEvents({});
    const error = await new Promise((resolve) => stream.once('error', resolve));
    expect(error).toMatchObject({ code: status.UNIMPLEMENTED, details: 'no events here' });
  });
});
