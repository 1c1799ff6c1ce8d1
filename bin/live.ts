import { join } from 'node:path';
import type { Logger } from 'pino';
import type { InspectionEvent } from 'xstate';
import { openHistoryFile, type HistoryFile } from '../services/live/history-file.ts';
import { createLiveSystem } from '../services/live/live-system.ts';
import type { LiveSystem } from '../services/live/live.types.ts';
import { traceTransitions } from './trace.ts';

export interface LiveAgent {
  live: LiveSystem;
  /** For createActor. */
  inspect(event: InspectionEvent): void;
  /** Takes up the history of earlier agents; only once this one has the root directory for itself, and before it starts. */
  openHistory(rootDir: string): Promise<void>;
  /** Writes what is left of the history. */
  close(): Promise<void>;
}

/** The live view of the agent and its history, and with -v 4 the log of every state that is entered. */
export function liveAgent(now: () => number, log: Logger): LiveAgent {
  let file: HistoryFile | undefined;
  const warn = (message: string) => log.warn(message);
  const live = createLiveSystem({ now, record: (transition) => file?.add(transition), tell: warn });
  const trace = traceTransitions(log);
  return {
    live,
    inspect(event) {
      live.inspect(event);
      trace(event);
    },
    async openHistory(rootDir) {
      file = await openHistoryFile({ folder: join(rootDir, 'statelet'), warn });
      live.recall(file.kept);
    },
    close: async () => file?.close(),
  };
}
