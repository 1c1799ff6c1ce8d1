import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError } from '../../machines/agent-error.types.ts';
import { createFactStore, type FactStore } from './facts.ts';
import type { HostLogger, HostPaths } from './host.types.ts';
import { makeDirectory } from './make-directory.ts';
import { mountTmpfs, readMounts } from './mounts.ts';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/**
 * Facts that are secret: in memory (tmpfs) where the agent may mount, else on disk; for its owner alone, and of no other
 * boot of the node (docs/adr/0012-kept-secrets.md). Nothing is made before the first of them is written, and then once for
 * all stores: a second mount would hide what lies in the first.
 */
export async function secretStores(
  paths: Pick<HostPaths, 'rootDir'>,
  logger: HostLogger,
): Promise<(folder: 'objects' | 'tokens') => FactStore> {
  const boot = (await readFile(BOOT_ID, 'utf8')).trim();
  const root = join(paths.rootDir, 'statelet', 'secrets');
  let ready: Promise<void> | undefined;
  const prepare = async () => {
    await makeDirectory(join(root, '..'), 0o700);
    await makeDirectory(root, 0o700);
    for (const other of await readdir(root))
      if (other !== boot) await rm(join(root, other), { recursive: true, force: true });
    if (!(await readMounts()).some(({ path }) => path === root)) await mountMemory(root, logger);
  };
  return (folder) => {
    const store = createFactStore(paths, logger, `secrets/${boot}/${folder}`);
    return {
      ...store,
      async write(key, facts, durable) {
        ready ??= prepare();
        ready.catch(() => (ready = undefined));
        await ready;
        await store.write(key, facts, durable);
      },
    };
  };
}

async function mountMemory(root: string, logger: HostLogger): Promise<void> {
  try {
    if (process.geteuid?.() !== 0) throw new Error('only root may mount');
    await mountTmpfs(root, 'mode=0700', { logger, signal: AbortSignal.timeout(10_000) });
  } catch (error) {
    const { message } = AgentError.from(error, 'mount');
    logger.warn({ directory: root, problem: message }, 'kept secrets lie on disk: no memory could be mounted for them');
  }
}
