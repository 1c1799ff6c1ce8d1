import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { AgentError } from '../../machines/agent-error.types.ts';

const run = promisify(execFile);

export interface MountPoint {
  path: string;
  fsType: string;
  /** Options of the superblock: on cgroup v1 the controllers. */
  superOptions: string[];
}

/** The mounts of this mount namespace, in mount order (proc_pid_mountinfo(5)). */
export async function readMounts(): Promise<MountPoint[]> {
  return parseMountinfo(await readFile('/proc/self/mountinfo', 'utf8'));
}

/** mountinfo's lines; spaces and the like in paths are octal escapes there. */
export function parseMountinfo(text: string): MountPoint[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [before = '', after = ''] = line.split(' - ');
      const [fsType = '', , superOptions = ''] = after.split(' ');
      return { path: unescape(before.split(' ')[4] ?? ''), fsType, superOptions: superOptions.split(',') };
    });
}

function unescape(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_whole, octal: string) => String.fromCharCode(parseInt(octal, 8)));
}

/** Mounts on the path or below it, deepest first: the order to unmount them in. */
export function mountsBelow(mounts: readonly MountPoint[], path: string): MountPoint[] {
  return mounts.filter((mount) => mount.path === path || mount.path.startsWith(`${path}/`)).reverse();
}

/** Kernels before 6.4 do not: found out by the first that mounts without. */
let knowsNoswap = true;

/**
 * Memory at this path, which is never swapped out where the kernel can do that.
 *
 * @param options mount(8) options, joined by commas
 */
export async function mountTmpfs(path: string, options: string, signal: AbortSignal): Promise<void> {
  const mount = (all: string) => call('mount', ['-t', 'tmpfs', '-o', all, 'tmpfs', path], signal);
  if (knowsNoswap) {
    try {
      await mount(`${options},noswap`);
      return;
    } catch {
      // Any other cause fails again below and is told.
      signal.throwIfAborted();
    }
  }
  await mount(options);
  knowsNoswap = false;
}

export async function unmount(path: string, signal: AbortSignal): Promise<void> {
  await call('umount', [path], signal);
}

async function call(program: string, args: string[], signal: AbortSignal): Promise<void> {
  try {
    await run(program, args, { signal });
  } catch (error) {
    const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
    const text = stderr.trim() || message;
    throw new AgentError({
      op: program,
      reason: /busy/.test(text) ? 'EBUSY' : 'MountFailed',
      message: text,
      transient: true,
      cause: error,
    });
  }
}
