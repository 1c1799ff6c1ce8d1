import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Cri } from '../client.ts';
import type { ContainerEventResponse } from '../proto/generated/cri.ts';

/** GetContainerEvents: every change of a container from now on. Runtimes without it answer UNIMPLEMENTED. */
export function getContainerEvents(cri: Cri): ClientReadableStream<ContainerEventResponse> {
  return cri.stream('getContainerEvents', {});
}
