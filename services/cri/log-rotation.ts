import { fromPromise } from 'xstate';
import type { LogRotationSlots } from '../../machines/node/log-rotation.types.ts';
import { rotateLogs } from '../host/index.ts';
import type { CriServices } from './index.ts';
import { reopenContainerLog } from './verbs/reopen-container-log.ts';

/** The rotation of logs: what runs is the runtime's word, and so is where each one's log is. */
export function logRotationSlots({ cri, observer }: Pick<CriServices, 'cri' | 'observer'>): LogRotationSlots {
  return {
    rotateLogs: fromPromise(async ({ input, signal }) => {
      const running = await observer.observeRunning(signal);
      const containers = running.filter(({ logPath }) => logPath !== '').map(({ id, logPath: path }) => ({ id, path }));
      return await rotateLogs({ ...input, containers, reopen: (id) => reopenContainerLog(cri, id) }, signal);
    }),
  };
}
