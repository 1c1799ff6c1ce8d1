import type { Cri } from '../client.ts';
import type { VersionResponse } from '../proto/generated/cri.ts';

/** What the kubelet has always sent (kuberuntime_manager.go:kubeRuntimeAPIVersion); runtimes ignore it. */
const REQUESTED_VERSION = '0.1.0';

/** Version: the runtime's name, as in `containerID: <name>://…`, and its versions. */
export function version(cri: Cri, signal?: AbortSignal): Promise<VersionResponse> {
  return cri.call('version', { version: REQUESTED_VERSION }, { deadlineMs: cri.runtimeRequestTimeoutMs, signal });
}
