import type { Cri } from '../client.ts';
import { isNotFound } from '../errors.ts';

/** ReopenContainerLog: the runtime opens the log's path anew, after the file there was renamed. One that is gone is done. */
export async function reopenContainerLog(cri: Cri, containerId: string): Promise<void> {
  try {
    await cri.call('reopenContainerLog', { containerId }, { deadlineMs: cri.runtimeRequestTimeoutMs });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
