import { Metadata, status } from '@grpc/grpc-js';
import type { ServerWritableStream } from '@grpc/grpc-js';

import type { ContainerEventResponse, GetEventsRequest } from '../../proto/generated/cri.ts';
import { RuntimeFailure } from '../errors.ts';
import { aborted } from '../faults.ts';
import type { Faults } from '../faults.ts';
import type { Runtime } from '../runtime.ts';

/** Events that may wait for a slow reader; with more its stream is ended, and it has to list and subscribe again. */
const MAX_QUEUE = 1_000;

/**
 * Sends every change from now on until the client goes. The header goes out at once: who has it misses nothing.
 * @throws RESOURCE_EXHAUSTED when the reader does not keep up.
 */
export async function streamContainerEvents(
  runtime: Runtime,
  faults: Faults,
  call: ServerWritableStream<GetEventsRequest, ContainerEventResponse>,
  signal: AbortSignal,
): Promise<void> {
  const overflow = new AbortController();
  const send = async (event: ContainerEventResponse): Promise<void> => {
    const copies = await faults.beforeEvent(event);
    for (let copy = 0; copy < copies && !signal.aborted; copy += 1) call.write(event);
    if (call.writableLength > MAX_QUEUE) overflow.abort();
  };
  const listener = (event: ContainerEventResponse): void => void send(event);
  runtime.events.on('event', listener);
  call.sendMetadata(new Metadata());
  await aborted(AbortSignal.any([signal, overflow.signal]));
  runtime.events.off('event', listener);
  if (overflow.signal.aborted) {
    throw new RuntimeFailure(status.RESOURCE_EXHAUSTED, `more than ${MAX_QUEUE} events wait for a reader`);
  }
}
