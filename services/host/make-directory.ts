import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errno, ifThere } from './effect.ts';

/**
 * Makes a folder with all that is missing above it; done where it is there. Not Node's own recursive mkdir: that one
 * never returns where the kernel answers ENOENT below a folder that exists, as /proc does, and holds a thread for ever.
 *
 * @throws the error of the file system, with path and errno
 */
export async function makeDirectory(path: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const parent = dirname(path);
    if (errno(error) === 'ENOENT' && parent !== path) {
      await makeDirectory(parent, mode);
      await makeOne(path, mode);
    } else if (!(await isDirectory(path))) throw error;
  }
}

/** The last one, which somebody else may have made meanwhile. */
async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (!(await isDirectory(path))) throw error;
  }
}

const isDirectory = async (path: string) => (await ifThere(stat(path)))?.isDirectory() ?? false;
