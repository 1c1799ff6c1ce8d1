import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { PodCgroups } from './cgroup/index.ts';
import { podDirectory, podsDirectory } from './directories.ts';
import { ifThere } from './effect.ts';
import type { FactStore } from './facts.ts';
import type { HostLogger, HostPaths } from './host.types.ts';
import { removeDanglingLinks } from './logs.ts';
import { refuseMounted, unmountVolumes } from './volumes/index.ts';

export interface SweepParts {
  paths: HostPaths;
  cgroups: PodCgroups;
  facts: FactStore;
  logger: HostLogger;
  /** What was told of already: one line for each thing that cannot be removed, not one a round (B110). */
  told: Set<string>;
}

/**
 * Removes cgroups, folders and logs of pods that are not in `keep` (kubelet_pods.go:cleanupOrphanedPodCgroups,
 * kubelet_volumes.go:cleanupOrphanedPodDirs, kuberuntime/kuberuntime_gc.go:evictPodLogsDirectories). What cannot be
 * removed now is told once and tried again in the next round.
 *
 * @returns what was removed, as paths and `cgroup of pod <uid>`
 */
export async function sweepLeftovers(
  parts: SweepParts,
  keep: (uid: string) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const { paths, cgroups, facts } = parts;
  const removed: string[] = [];
  const each = async (uids: string[], what: (uid: string) => string, remove: (uid: string) => Promise<boolean>) => {
    for (const uid of new Set(uids)) {
      signal.throwIfAborted();
      if (keep(uid)) continue;
      try {
        if (await remove(uid)) removed.push(what(uid));
        parts.told.delete(what(uid));
      } catch (error) {
        tell(parts, what(uid), error);
      }
    }
  };
  await each(
    await cgroups.list(),
    (uid) => `cgroup of pod ${uid}`,
    (uid) => cgroups.remove(uid),
  );
  await each(
    (await ifThere(readdir(podsDirectory(paths)))) ?? [],
    (uid) => join(podsDirectory(paths), uid),
    async (uid) => {
      await unmountVolumes(paths, uid, signal);
      await refuseMounted(paths, uid);
      await rm(podDirectory(paths, uid), { recursive: true, force: true });
      return true;
    },
  );
  const logs = ((await ifThere(readdir(paths.podLogsDir))) ?? []).flatMap((name) => {
    // Neither namespaces, pod names nor UIDs have an underscore; other folders are none of the agent's.
    const [, uid] = /^[^_]+_[^_]+_([^_]+)$/.exec(name) ?? [];
    return uid === undefined ? [] : [{ name, uid }];
  });
  for (const { name, uid } of logs)
    await each(
      [uid],
      () => join(paths.podLogsDir, name),
      async () => {
        await rm(join(paths.podLogsDir, name), { recursive: true, force: true });
        return true;
      },
    );
  await each(
    await facts.list(),
    (uid) => `facts of pod ${uid}`,
    async (uid) => {
      await facts.remove(uid);
      return true;
    },
  );
  await removeDanglingLinks(paths);
  return removed;
}

function tell({ told, logger }: SweepParts, what: string, error: unknown): void {
  if (told.has(what)) return;
  told.add(what);
  const { message, reason } = AgentError.from(error, 'sweep');
  logger.warn({ what, reason, problem: message }, 'a leftover of a pod that is gone cannot be removed');
}
