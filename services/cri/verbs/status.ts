import type { Cri } from '../client.ts';
import type { StatusResponse } from '../proto/generated/cri.ts';

/** Status: the conditions RuntimeReady and NetworkReady, and what the runtime's handlers can do. */
export function status(cri: Cri, signal?: AbortSignal): Promise<StatusResponse> {
  return cri.call('status', { verbose: false }, { deadlineMs: cri.runtimeRequestTimeoutMs, signal });
}
