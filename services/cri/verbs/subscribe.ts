import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Cri } from '../client.ts';
import type { Envelope } from '../proto/generated/containerd-events.ts';

/**
 * containerd's own event service, on the runtime's socket: tasks of CRI's namespace that start, end or run out of
 * memory. Any other runtime answers UNIMPLEMENTED.
 */
export function subscribe(cri: Cri): ClientReadableStream<Envelope> {
  const topics = ['/tasks/start', '/tasks/exit', '/tasks/delete', '/tasks/oom'];
  return cri.stream('subscribe', { filters: topics.map((topic) => `namespace==k8s.io,topic=="${topic}"`) });
}
