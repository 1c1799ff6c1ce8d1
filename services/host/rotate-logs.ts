import { createReadStream, createWriteStream } from 'node:fs';
import { access, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { errno, hostError, ifThere } from './effect.ts';

/** A rotated file: `<log>.YYYYMMDD-HHMMSS`, `.gz` when compressed (logs/container_log_manager.go:timestampFormat). */
const ROTATED = /^\.\d{8}-\d{6}(\.gz)?$/;

export interface RotateLogsInput {
  /** Running containers with their log files. */
  containers: { id: string; path: string }[];
  /** containerLogMaxSize, bytes. */
  maxSizeBytes: number;
  /** containerLogMaxFiles, the live file included; at least 2. */
  maxFiles: number;
  /** ReopenContainerLog. */
  reopen(id: string, signal: AbortSignal): Promise<void>;
}

export interface RotateLogsOutput {
  rotated: string[];
  failed: { path: string; message: string }[];
}

/** Rotates every log above its size; one that fails is told and harms no other (logs/container_log_manager.go:rotateLogs). */
export async function rotateLogs(
  input: RotateLogsInput,
  signal: AbortSignal,
  now = new Date(),
): Promise<RotateLogsOutput> {
  const output: RotateLogsOutput = { rotated: [], failed: [] };
  for (const { id, path } of input.containers) {
    signal.throwIfAborted();
    try {
      const stats = await ifThere(stat(path));
      // A log that is away was renamed by a rotation that never got to its end.
      if (!stats) await input.reopen(id, signal);
      else if (stats.size > input.maxSizeBytes) {
        await rotateContainerLog({ id, path, maxFiles: input.maxFiles, reopen: input.reopen, now }, signal);
        output.rotated.push(path);
      }
    } catch (error) {
      output.failed.push({ path, message: hostError(error, 'rotate log').message });
    }
  }
  return output;
}

/**
 * Rotates one log: excess files go, older ones are compressed, the live one is renamed and the runtime told to open a new
 * one; where it cannot, the rename is undone. The newest rotated file stays plain for readers that follow it.
 */
async function rotateContainerLog(
  log: { id: string; path: string; maxFiles: number; reopen: RotateLogsInput['reopen']; now: Date },
  signal: AbortSignal,
): Promise<void> {
  const { id, path } = log;
  const directory = dirname(path);
  const live = basename(path);
  const names = await readdir(directory);
  const own = names.filter((name) => name.startsWith(`${live}.`)).map((name) => name.slice(live.length));
  await Promise.all(
    own.filter((suffix) => suffix.endsWith('.tmp')).map((suffix) => rm(path + suffix, { force: true })),
  );
  const rotated = own.filter((suffix) => ROTATED.test(suffix)).sort();
  // Two of maxFiles are the live file and the one that is rotated now.
  const excess = rotated.splice(0, Math.max(0, rotated.length - Math.max(0, log.maxFiles - 2)));
  await Promise.all(excess.map((suffix) => rm(path + suffix, { force: true })));
  for (const suffix of rotated) if (!suffix.endsWith('.gz')) await compress(join(directory, live + suffix), signal);
  const target = await freeName(path, log.now);
  await rename(path, target);
  try {
    await log.reopen(id, signal);
  } catch (error) {
    await undo(target, path);
    throw error;
  }
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
