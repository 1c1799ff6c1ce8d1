import { lstat, open, readFile, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError } from '../../machines/agent-error.types.ts';
import { errno, ifThere } from '../host/effect.ts';
import { makeDirectory } from '../host/make-directory.ts';
import { decodeHistory, encodeTransition, HEAD } from './history-lines.ts';
import type { Transition } from './live.types.ts';

export interface HistoryFile {
  /** What earlier processes have kept, oldest first. */
  kept: readonly Transition[];
  /** Takes a transition; it is written within a moment. Never waits, never throws. */
  add(transition: Transition): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

export interface HistoryFileOptions {
  /** <root-dir>/statelet */
  folder: string;
  warn(message: string): void;
  /** Of both generations together. */
  maxBytes?: number;
  /** Longest that a transition stays unwritten, ms. */
  everyMs?: number;
}

/** Lines that wait for a disk that does not take them; older ones are given up. */
const MOST_WAITING = 2_000;
const MODE = 0o600;

/**
 * The history as `history.jsonl`, a transition a line, and `history.1.jsonl`, the generation before: what happened is still
 * known after a restart of the agent. A process that is killed loses the last second at most. A file that cannot be read is
 * set aside, a disk that does not take more is told of once: nothing of it ever holds up the agent.
 */
export async function openHistoryFile(options: HistoryFileOptions): Promise<HistoryFile> {
  const { folder, warn, maxBytes = 1_048_576, everyMs = 1_000 } = options;
  const path = join(folder, 'history.jsonl');
  const earlier = join(folder, 'history.1.jsonl');
  const half = Math.floor(maxBytes / 2);
  let file: FileHandle | undefined;
  let size = 0;
  let waiting: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  let hasFailed = false;

  /** The transitions of one generation, and whether more may be written to it. */
  const read = async (name: string): Promise<{ transitions: readonly Transition[]; isGood: boolean }> => {
    try {
      const stats = await ifThere(lstat(name));
      if (!stats) return { transitions: [], isGood: true };
      // Not read even in part: it is not one of ours.
      const isOurs = stats.isFile() && stats.size <= maxBytes;
      const decoded = isOurs ? decodeHistory(await readFile(name, 'utf8')) : undefined;
      if (decoded && !decoded.problem) return { transitions: decoded.transitions, isGood: true };
      const problem = decoded?.problem ?? (stats.isFile() ? `has more than ${maxBytes} bytes` : 'is no regular file');
      await rename(name, `${name}.corrupt`);
      warn(`${name} ${problem}: it was set aside as ${name}.corrupt, what could be read of it is kept`);
      return { transitions: decoded?.transitions ?? [], isGood: false };
    } catch (error) {
      warn(`${name} cannot be read, and the history begins anew: ${messageOf(error)}`);
      return { transitions: [], isGood: true };
    }
  };

  const begin = async () => {
    await makeDirectory(folder, 0o700);
    file = await open(path, 'a', MODE);
    await file.chmod(MODE);
    ({ size } = await file.stat());
    if (size === 0) await append(HEAD);
  };
  const append = async (text: string) => {
    const bytes = Buffer.from(text);
    await file?.writeFile(bytes);
    size += bytes.byteLength;
  };
  const write = async () => {
    timer = undefined;
    const lines = waiting;
    waiting = [];
    try {
      if (!file) await begin();
      const text = lines.join('');
      if (size + Buffer.byteLength(text) > half) {
        await file?.close();
        file = undefined;
        await rename(path, earlier);
        await begin();
      }
      await append(text);
      if (hasFailed) warn(`${path} is written again`);
      hasFailed = false;
    } catch (error) {
      waiting = [...lines, ...waiting].slice(-MOST_WAITING);
      if (!hasFailed) warn(`${path} cannot be written, the agent goes on without it: ${messageOf(error)}`);
      hasFailed = true;
      await giveUp();
    }
  };
  /** Half a line may have been written: the next try begins where the last good one ended. */
  const giveUp = async () => {
    const broken = file;
    file = undefined;
    try {
      await broken?.truncate(size);
      await broken?.close();
    } catch (error) {
      // Told already; the next agent sets such a file aside.
      if (errno(error) === undefined) throw error;
    }
  };
  const flush = () => (writing = writing.then(write));

  const [old, young] = [await read(earlier), await read(path)];
  // What could still be read is written again, into a file that is good.
  if (!young.isGood) waiting = young.transitions.map(encodeTransition);

  return {
    kept: [...old.transitions, ...young.transitions],
    add(transition) {
      waiting.push(encodeTransition(transition));
      if (waiting.length > MOST_WAITING) waiting.shift();
      timer ??= setTimeout(() => void flush(), everyMs).unref();
    },
    async close() {
      clearTimeout(timer);
      if (waiting.length > 0) await flush();
      await writing;
      await file?.close();
      file = undefined;
    },
  };
}

const messageOf = (error: unknown) => AgentError.from(error, 'history').message;
