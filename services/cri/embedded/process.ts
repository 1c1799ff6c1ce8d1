import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { nowNs } from './clock.ts';
import { openOutput } from './container-output.ts';
import type { Outlet, Output } from './container-output.ts';
import { openProcessEnd } from './fifo.ts';
import type { LogFile } from './log-file.ts';
import { isAlive, readStat } from './proc.ts';
import { signalGroup } from './signals.ts';

/** How long output may still come after the process has ended and its group was killed, ms. */
const DRAIN_MS = 1_000;
/** How often an adopted process, which is not our child, is looked at, ms. */
const POLL_MS = 100;

export interface ProcessEnd {
  /** 0–255, 128+n for signal n; undefined when an adopted process ended, which nobody could wait for. */
  exitCode: number | undefined;
  finishedAt: bigint;
}

/** The process of a running container. */
export interface ContainerProcess {
  pid: number;
  startTime: string;
  /** When it has ended, its group is killed and its output is in the log. Never settles after `detach`. */
  ended: Promise<ProcessEnd>;
  log: LogFile | undefined;
  /** Stops watching and logging, leaves the process alone. */
  detach(): Promise<void>;
}

/**
 * Starts a container's process in a session and process group of its own, writing to named pipes that are copied
 * into its log.
 * @throws the system's error when it cannot be executed.
 */
export async function launch(
  command: { file: string; argv: readonly string[]; env: Record<string, string>; cwd: string },
  outlet: Outlet,
): Promise<ContainerProcess> {
  const names = outlet.logPath === '' ? [] : outlet.tty ? ['stdout'] : ['stdout', 'stderr'];
  const ends = await Promise.all(names.map((name) => openProcessEnd(join(outlet.directory, name))));
  const stdin = outlet.stdin ? await openProcessEnd(join(outlet.directory, 'stdin')) : undefined;
  try {
    const output = await openOutput(outlet);
    const [stdout, stderr = stdout] = ends.map((end) => end.fd);
    const child = spawn(command.file, command.argv.slice(1), {
      argv0: command.argv[0],
      env: command.env,
      cwd: command.cwd,
      detached: true,
      stdio: [stdin?.fd ?? 'ignore', stdout ?? 'ignore', stderr ?? 'ignore'],
    });
    try {
      await spawned(child);
    } catch (error) {
      await output.detach();
      throw error;
    }
    const pid = child.pid ?? 0;
    const exit = new Promise<ProcessEnd>((resolve) => {
      child.once('exit', (code, signal) => {
        const exitCode = code ?? 128 + constants.signals[signal ?? 'SIGKILL'];
        resolve({ exitCode, finishedAt: nowNs() });
      });
    });
    const startTime = (await readStat(pid))?.startTime ?? '';
    return watch(pid, startTime, exit, output, () => child.unref());
  } finally {
    await Promise.all([...ends, ...(stdin ? [stdin] : [])].map((end) => end.close()));
  }
}

/** Takes over a process that an earlier server started. Its exit code can no longer be learnt. */
export async function adopt(pid: number, startTime: string, outlet: Outlet): Promise<ContainerProcess> {
  const output = await openOutput(outlet);
  const watching = new AbortController();
  const exit = (async (): Promise<ProcessEnd> => {
    while (!watching.signal.aborted && (await isAlive(pid, startTime))) await sleep(POLL_MS);
    return { exitCode: undefined, finishedAt: nowNs() };
  })();
  return watch(pid, startTime, exit, output, () => watching.abort());
}

function watch(
  pid: number,
  startTime: string,
  exit: Promise<ProcessEnd>,
  output: Output,
  release: () => void,
): ContainerProcess {
  let detached = false;
  const ended = exit.then(async (end) => {
    if (detached) return new Promise<ProcessEnd>(() => undefined);
    // With its first process a container ends, and so does everything it started.
    signalGroup(pid, 'SIGKILL');
    const drained = new AbortController();
    await Promise.race([output.copied, sleep(DRAIN_MS, undefined, { signal: drained.signal }).catch(() => undefined)]);
    drained.abort();
    await output.detach();
    return end;
  });
  return {
    pid,
    startTime,
    ended,
    log: output.log,
    detach: async () => {
      detached = true;
      release();
      await output.detach();
    },
  };
}

function spawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}
