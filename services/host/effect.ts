import { rm } from 'node:fs/promises';
import { AgentError } from '../../machines/agent-error.types.ts';

/** Errno of a file system error (`ENOENT`), told by its shape: it may come from another realm. */
export function errno(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** Errnos after which the same call can succeed later with nothing else changed. */
const TRANSIENT = new Set([
  'EBUSY',
  'EAGAIN',
  'EMFILE',
  'ENFILE',
  'ENOSPC',
  'EDQUOT',
  'ENOMEM',
  'EIO',
  'ETIMEDOUT',
  'EINTR',
]);

/** A file system's or program's error as AgentError; the errno is the reason. One that already is stays as it is. */
export function hostError(error: unknown, op: string, message?: string): AgentError {
  if (error instanceof AgentError) return error;
  const code = errno(error);
  const { message: own = String(error) } = (error ?? {}) as { message?: string };
  return new AgentError({
    op,
    reason: code ?? 'Unexpected',
    message: message ?? own,
    transient: code !== undefined && TRANSIENT.has(code),
    cause: error,
  });
}

/**
 * Runs one effect on the host: bounded by a deadline, given up when asked to, every error mapped once.
 *
 * @param work gets a signal that also fires at the deadline; it looks at it between steps that change something
 * @throws AgentError `DEADLINE_EXCEEDED` or `CANCELLED` where the work did not settle in time
 */
export async function effect<T>(
  op: string,
  deadlineMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (outer?.aborted) throw stopped(op, 'CANCELLED', `${op}: no longer wanted`);
  const inner = new AbortController();
  let giveUp: () => void = () => undefined;
  const given = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(inner.signal.reason);
  });
  inner.signal.addEventListener('abort', giveUp, { once: true });
  const cancel = () => inner.abort(stopped(op, 'CANCELLED', `${op}: no longer wanted`));
  const timer = setTimeout(
    () => inner.abort(stopped(op, 'DEADLINE_EXCEEDED', `${op}: the host did not answer within ${deadlineMs / 1000} s`)),
    deadlineMs,
  );
  outer?.addEventListener('abort', cancel, { once: true });
  try {
    return await Promise.race([work(inner.signal), given]);
  } catch (error) {
    throw hostError(error, op);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', cancel);
    inner.signal.removeEventListener('abort', giveUp);
  }
}

function stopped(op: string, reason: string, message: string): AgentError {
  return new AgentError({ op, reason, message, transient: true });
}

/** Removes a file or folder with all that is in it; done where it is not there, as under a name that none can have. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (errno(error) !== 'ENAMETOOLONG') throw error;
  }
}

/** The promise's value, or undefined where the file or folder is not there. */
export async function ifThere<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
