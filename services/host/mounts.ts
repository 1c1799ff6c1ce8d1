import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { getSystemErrorMap, promisify } from 'node:util';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { HostLogger } from './host.types.ts';
import { libc } from './libc.ts';

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

/** Kernels before 6.4 do not: found out by the first mount that is refused for it. */
let knowsNoswap = true;
/** One line where the kernel cannot be called. */
let toldOfPrograms = false;

/** How the kernel, and mount(8) for it, refuse an option that they do not know; also one of a known option's values. */
const REFUSED = 'EINVAL';

export interface MountAsk {
  logger: HostLogger;
  signal: AbortSignal;
}

/**
 * Memory at this path, which is never swapped out where the kernel can do that.
 *
 * @param options of tmpfs(5), joined by commas
 * @throws AgentError MountFailed, with the kernel's word
 */
export async function mountTmpfs(path: string, options: string, ask: MountAsk): Promise<void> {
  if (!knowsNoswap) return mountOne(path, options, ask);
  try {
    await mountOne(path, `${options},noswap`, ask);
  } catch (error) {
    ask.signal.throwIfAborted();
    if (errnoOf(error) !== REFUSED) throw error;
    // Where it is refused without that option too, the option is not why.
    await mountOne(path, options, ask);
    knowsNoswap = false;
  }
}

async function mountOne(path: string, options: string, { logger, signal }: MountAsk): Promise<void> {
  const kernel = await libc();
  if (!(kernel instanceof Error)) return done('mount', path, kernel.mount('tmpfs', path, 'tmpfs', 0, options));
  if (!toldOfPrograms)
    logger.warn(
      { problem: kernel.message },
      'the kernel cannot be called for mounts: mount(8) is run for every volume in memory, which takes longer',
    );
  toldOfPrograms = true;
  return call('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], signal);
}

const UMOUNT_NOFOLLOW = 8;

/** @throws AgentError EBUSY or MountFailed, with the kernel's word */
export async function unmount(
  { path, fsType }: Pick<MountPoint, 'path' | 'fsType'>,
  signal: AbortSignal,
): Promise<void> {
  // Memory goes at once. What a server is behind may hang, and then it is a process of its own that hangs.
  const kernel = fsType === 'tmpfs' ? await libc() : undefined;
  if (!kernel || kernel instanceof Error) return call('umount', [path], signal);
  done('umount', path, kernel.umount2(path, UMOUNT_NOFOLLOW));
}

/** mount(8)'s words for EINVAL: util-linux before 2.39, since then where the kernel names the option, and busybox. */
const REFUSED_WORDS = /wrong fs type, bad option|Unknown parameter 'noswap'|: Invalid argument/;

/** The errno that a mount failed with; of mount(8) by its words. */
function errnoOf(error: unknown): string | undefined {
  const { cause, message } = AgentError.from(error, 'mount');
  if (typeof cause === 'string') return cause;
  return REFUSED_WORDS.test(message) ? REFUSED : undefined;
}

/** @param errno 0 where the call has done its work */
function done(op: string, path: string, errno: number): void {
  if (errno === 0) return;
  const [name, text] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, 'unknown error'];
  throw new AgentError({
    op,
    reason: name === 'EBUSY' ? 'EBUSY' : 'MountFailed',
    message: `${op} ${path}: ${name}: ${text}`,
    transient: true,
    cause: name,
  });
}

async function call(program: string, args: string[], signal: AbortSignal): Promise<void> {
  try {
    // Its words are read, so they are asked for in English.
    await run(program, args, { signal, env: { ...process.env, LC_ALL: 'C' } });
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
