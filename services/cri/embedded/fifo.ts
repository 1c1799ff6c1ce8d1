import { execFile } from 'node:child_process';
import { constants, open as openFd } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);
const openFdAsync = promisify(openFd);

/** Makes named pipes. Node has no call for it; `mkfifo` is POSIX. */
export async function makeFifos(paths: readonly string[]): Promise<void> {
  await execFileAsync('mkfifo', ['-m', '600', ...paths]);
}

/**
 * The end that a container's process gets, opened for reading *and* writing: so that it neither gets SIGPIPE nor
 * loses what it wrote while no server reads (it blocks when the pipe is full and goes on when a server is back).
 */
export function openProcessEnd(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDWR);
}

/** The reading end. Ends when the last process that holds the pipe is gone; open it while one does. */
export async function openReader(path: string): Promise<Socket> {
  const fd = await openFdAsync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}
