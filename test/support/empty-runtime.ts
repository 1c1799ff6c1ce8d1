import type { Cri } from '../../services/cri/client.ts';
import { listPodSandbox } from '../../services/cri/verbs/list-pod-sandbox.ts';
import { removePodSandbox } from '../../services/cri/verbs/remove-pod-sandbox.ts';
import { stopPodSandbox } from '../../services/cri/verbs/stop-pod-sandbox.ts';

/** Stops and removes every sandbox of a runtime with its containers. */
export async function emptyRuntime(cri: Cri): Promise<void> {
  for (const { id } of await listPodSandbox(cri, {})) {
    await stopPodSandbox(cri, id);
    await removePodSandbox(cri, id);
  }
}
