import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError } from '../machines/agent-error.types.ts';
import { errno } from '../services/host/effect.ts';
import { makeDirectory } from '../services/host/make-directory.ts';

/**
 * Makes the root directory and what all pods share in it (kubelet.go:setupDataDirs).
 * @throws AgentError InvalidPath that names flag and path, where no folder can be made there or nothing written
 */
export async function makeRootDir(rootDir: string): Promise<void> {
  try {
    await makeDirectory(join(rootDir, 'pods'), 0o750);
    await access(rootDir, constants.W_OK);
  } catch (error) {
    const { message = String(error) } = (error ?? {}) as { message?: string };
    const reason = errno(error) === undefined ? message : message.replace(/, (?:mkdir|access) .*$/, '');
    throw new AgentError({
      op: 'make the root directory',
      reason: 'InvalidPath',
      message: `--root-dir: ${rootDir}: cannot be used (${reason}): accepted is a folder that can be made and written to`,
      transient: false,
      cause: error,
    });
  }
}
