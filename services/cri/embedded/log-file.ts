import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

import { nowNs, rfc3339Nano } from './clock.ts';
import { makeDirectory } from '../../host/make-directory.ts';

/** Bytes of one log entry; a longer line is cut into partial entries (containerd's max_container_log_line_size). */
const MAX_LINE = 16 * 1024;
const NEWLINE = 0x0a;

type LogStream = 'stdout' | 'stderr';

interface LogEntry {
  tag: 'F' | 'P';
  text: Buffer;
}

/** A container's log in the CRI format: `<time> <stream> <F|P> <text>` per line; P is a part of a longer line. */
export class LogFile {
  readonly path: string;
  #handle: FileHandle;
  #turn: Promise<void> = Promise.resolve();

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** Opens for appending, making the file and its folder where absent. */
  static async open(path: string): Promise<LogFile> {
    return new LogFile(path, await openAppending(path));
  }

  /** Opens the path anew; the agent has renamed the old file. Nothing is written to the old one afterwards. */
  reopen(): Promise<void> {
    return this.#inTurn(async () => {
      const old = this.#handle;
      this.#handle = await openAppending(this.path);
      await old.close();
    });
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#handle.close());
  }

  /** Appends entries of one stream, stamped now. */
  append(stream: LogStream, entries: readonly LogEntry[]): Promise<void> {
    if (entries.length === 0) return Promise.resolve();
    const pieces: Uint8Array[] = [];
    for (const { tag, text } of entries) {
      pieces.push(Buffer.from(`${rfc3339Nano(nowNs())} ${stream} ${tag} `), text, Buffer.of(NEWLINE));
    }
    return this.#inTurn(() => this.#handle.appendFile(Buffer.concat(pieces)));
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

async function openAppending(path: string): Promise<FileHandle> {
  await makeDirectory(dirname(path));
  return open(path, 'a', 0o640);
}

/**
 * Copies a process's output into its log until the stream ends, reading on only when what was read is written.
 * A failed write loses those lines and is told to `onError`; the process is never blocked for its log.
 */
export async function copyToLog(
  source: AsyncIterable<Buffer>,
  stream: LogStream,
  log: LogFile,
  onError: (error: unknown) => void,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of source) {
      const split = splitLines(rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk);
      rest = split.rest;
      await log.append(stream, split.entries).catch(onError);
    }
  } finally {
    // A last line without its newline is a partial one.
    if (rest.length > 0) await log.append(stream, [{ tag: 'P', text: rest }]).catch(onError);
  }
}

/** Cuts bytes into entries; `rest` is the unfinished last line, at most MAX_LINE long. */
export function splitLines(bytes: Buffer): { entries: LogEntry[]; rest: Buffer } {
  const entries: LogEntry[] = [];
  let from = 0;
  for (;;) {
    const newline = bytes.indexOf(NEWLINE, from);
    const end = newline === -1 ? bytes.length : newline;
    while (end - from > MAX_LINE) {
      entries.push({ tag: 'P', text: bytes.subarray(from, from + MAX_LINE) });
      from += MAX_LINE;
    }
    if (newline === -1) return { entries, rest: bytes.subarray(from) };
    entries.push({ tag: 'F', text: bytes.subarray(from, newline) });
    from = newline + 1;
  }
}
