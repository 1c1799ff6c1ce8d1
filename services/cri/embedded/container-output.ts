import type { Socket } from 'node:net';
import { join } from 'node:path';

import type { Logger } from 'pino';

import { openReader } from './fifo.ts';
import { LogFile, copyToLog } from './log-file.ts';

export interface Outlet {
  /** The container's directory, where its named pipes are. */
  directory: string;
  /** Log file; no output is kept where empty. */
  logPath: string;
  tty: boolean;
  stdin: boolean;
  logger: Logger;
}

export interface Output {
  log: LogFile | undefined;
  /** When every pipe has ended and is copied. */
  copied: Promise<unknown>;
  detach(): Promise<void>;
}

/** Begins to copy what comes out of a container's named pipes into its log; call it while a process end is open. */
export async function openOutput(outlet: Outlet): Promise<Output> {
  if (outlet.logPath === '') return { log: undefined, copied: Promise.resolve(), detach: async () => undefined };
  const log = await LogFile.open(outlet.logPath);
  const warn = (error: unknown): void => outlet.logger.warn({ err: error, path: log.path }, 'container output lost');
  let detached = false;
  const readers: Socket[] = [];
  const copies: Promise<void>[] = [];
  for (const name of outlet.tty ? (['stdout'] as const) : (['stdout', 'stderr'] as const)) {
    const reader = await openReader(join(outlet.directory, name));
    readers.push(reader);
    copies.push(
      copyToLog(reader, name, log, warn).catch((error: unknown) => {
        if (!detached) warn(error);
      }),
    );
  }
  return {
    log,
    copied: Promise.all(copies),
    detach: async () => {
      detached = true;
      for (const reader of readers) reader.destroy();
      await Promise.all(copies);
      await log.close();
    },
  };
}
