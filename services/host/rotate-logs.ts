import { createReadStream, createWriteStream } from 'node:fs';
import { access, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { effect, errno, hostError, ifThere } from './effect.ts';

/** A rotated file: `<log>.YYYYMMDD-HHMMSS`, `.gz` when compressed (logs/container_log_manager.go:timestampFormat). */
const ROTATED = /^\.\d{8}-\d{6}(\.gz)?$/;

interface Log {
  id: string;
  path: string;
}

export interface RotateLogsInput {
  /** Running containers with their log files. */
  containers: Log[];
  /** containerLogMaxSize, bytes: a log that has reached it is rotated. */
  maxSizeBytes: number;
  /** containerLogMaxFiles, the live file included; at least 2. */
  maxFiles: number;
  /** containerLogMaxWorkers: logs that are worked on at a time. */
  maxWorkers: number;
  /** ReopenContainerLog; not to be cut, for a log that was renamed must be opened again or put back. */
  reopen(id: string): Promise<void>;
}

export interface RotateLogsOutput {
  rotated: string[];
  failed: { path: string; message: string }[];
}

/** Longest work on the older files of one log, ms: a file system that hangs holds up one worker, and not for ever. */
const DEADLINE_MS = 120_000;

/** Rotates every log that has reached its size; one that fails is told and harms no other (logs/container_log_manager.go:rotateLogs). */
export async function rotateLogs(
  input: RotateLogsInput,
  signal: AbortSignal,
  now = new Date(),
): Promise<RotateLogsOutput> {
  const output: RotateLogsOutput = { rotated: [], failed: [] };
  const waiting = input.containers.values();
  const work = async () => {
    for (const log of waiting) {
      signal.throwIfAborted();
      try {
        if (await rotateLog(input, log, now, signal)) output.rotated.push(log.path);
      } catch (error) {
        output.failed.push({ path: log.path, message: hostError(error, 'rotate log').message });
      }
    }
  };
  await Promise.all(Array.from({ length: input.maxWorkers }, work));
  return output;
}

/** @returns whether it was rotated */
async function rotateLog(input: RotateLogsInput, log: Log, now: Date, signal: AbortSignal): Promise<boolean> {
  const { id, path } = log;
  // A log that is away was renamed by a rotation that never got to its end.
  if (!(await ifThere(stat(path)))) await input.reopen(id);
  const isDue = await effect('rotate log', DEADLINE_MS, signal, async (inner) => {
    const size = (await ifThere(stat(path)))?.size;
    if (size === undefined || size < input.maxSizeBytes) return false;
    for (const suffix of await tidy(log, input.maxFiles))
      if (!suffix.endsWith('.gz')) await compress(path + suffix, inner);
    return true;
  });
  if (!isDue) return false;
  // From here on nothing is given up half-way.
  const target = await freeName(path, now);
  await rename(path, target);
  try {
    await input.reopen(id);
  } catch (error) {
    await undo(target, path);
    throw error;
  }
  return true;
}

/**
 * Removes what an interrupted rotation left half-made, and the oldest files, so that with the live one and the one that
 * is rotated now there are no more than `maxFiles` (logs/container_log_manager.go:cleanupUnusedLogs, removeExcessLogs).
 *
 * @returns suffixes of the rotated files that stay, oldest first; the newest is still plain, for readers that follow it
 */
async function tidy({ path }: Log, maxFiles: number): Promise<string[]> {
  const live = basename(path);
  const names = await readdir(dirname(path));
  const own = names.filter((name) => name.startsWith(`${live}.`)).map((name) => name.slice(live.length));
  const isUnused = (suffix: string) => suffix.endsWith('.tmp') || own.includes(`${suffix}.gz`);
  const rotated = own.filter((suffix) => ROTATED.test(suffix) && !isUnused(suffix)).sort();
  const excess = rotated.splice(0, Math.max(0, rotated.length - Math.max(0, maxFiles - 2)));
  await Promise.all([...own.filter(isUnused), ...excess].map((suffix) => rm(path + suffix, { force: true })));
  return rotated;
}

/** Puts the live log back, unless the runtime opened a new one after all. */
async function undo(rotated: string, path: string): Promise<void> {
  try {
    await access(path);
  } catch (error) {
    if (errno(error) !== 'ENOENT') throw error;
    await rename(rotated, path);
  }
}

/** In pieces on the thread pool; a half-made file bears `.tmp` until it is whole. */
async function compress(path: string, signal: AbortSignal): Promise<void> {
  const temporary = `${path}.tmp`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(temporary, { mode: 0o640 }), { signal });
  await rename(temporary, `${path}.gz`);
  await rm(path, { force: true });
}

/** The log's name with the time; where two rotations fall in one second, with the next second that is free. */
async function freeName(path: string, now: Date): Promise<string> {
  for (let time = now.getTime(); ; time += 1000) {
    const name = `${path}.${timestamp(new Date(time))}`;
    const taken = await Promise.all([name, `${name}.gz`].map((each) => ifThere(access(each).then(() => true))));
    if (!taken.includes(true)) return name;
  }
}

function timestamp(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
  return `${day}-${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`;
}
