import { createPodCgroups, podCgroupParent } from './cgroup/index.ts';
import { prepareContainerFiles } from './container-files.ts';
import { makePodDirectories, podDirectory, podLogDirectory } from './directories.ts';
import { effect, removeTree } from './effect.ts';
import { createFactStore } from './facts.ts';
import type { CgroupSettings, HostLogger, HostPaths, PodHost } from './host.types.ts';
import { linkLog, removeDanglingLinks, removeLog } from './logs.ts';
import { sweepLeftovers } from './sweep.ts';
import { readTerminationMessage } from './termination-message.ts';
import { refuseMounted, setUpVolume, tearDownVolumes } from './volumes/index.ts';

export { isCgroupV2 } from './cgroup/index.ts';
export { createFactStore } from './facts.ts';
export { secretStores } from './secret-store.ts';
export { podSourceSlots } from './manifests/index.ts';
export { podFacts } from './pod-facts.ts';
export { hostFactsReader, hostWithoutAddresses } from './node-facts.ts';
export { nodeInfo } from './node-info.ts';
export { applyOomScoreAdj } from './oom-score.ts';
export { rotateLogs } from './rotate-logs.ts';

/** Of calls that only touch files. */
const QUICK_MS = 30_000;
/** Of calls that may delete or own many files (volume_manager.go: podAttachAndMountTimeout). */
const SLOW_MS = 123_000;
/** A pod that was being set up this short a time ago is not swept, though the sweep's `keep` may be older than it. */
const FRESH_MS = 60_000;

export interface PodHostOptions {
  paths: HostPaths;
  cgroup: CgroupSettings;
  logger?: HostLogger;
}

/**
 * The node as pods need it.
 *
 * @throws AgentError where the settings ask for what is not supported (the systemd cgroup driver)
 */
export function createPodHost({ paths, cgroup, logger = { warn: () => undefined } }: PodHostOptions): PodHost & {
  /** To be awaited before the first pod. @throws AgentError where cgroupsPerQOS is on and cgroups cannot be made */
  checkCgroups(): Promise<void>;
} {
  const cgroups = createPodCgroups(cgroup);
  const facts = createFactStore(paths, logger);
  const touched = new Map<string, number>();
  const touch = (uid: string) => void touched.set(uid, performance.now());
  const told = new Set<string>();

  return {
    checkCgroups: () => effect('check cgroups', QUICK_MS, undefined, () => cgroups.check()),
    cgroupParent: (pod) => podCgroupParent(cgroup, pod),
    logDirectory: (pod) => podLogDirectory(paths, pod),
    ensureCgroup(pod, signal) {
      touch(pod.metadata.uid);
      return effect('ensure pod cgroup', QUICK_MS, signal, () => cgroups.ensure(pod));
    },
    makeDirectories(pod, signal) {
      touch(pod.metadata.uid);
      return effect('make pod directories', QUICK_MS, signal, async () => ({
        highestLogAttempt: await makePodDirectories(paths, pod),
      }));
    },
    mountVolume: (pod, volume, files, signal) =>
      effect('mount volume', SLOW_MS, signal, (inner) =>
        setUpVolume(paths, pod, volume, files, { logger, signal: inner }),
      ),
    prepareContainer: (pod, container, attempt, signal) =>
      effect('prepare container', QUICK_MS, signal, async () => ({
        mounts: await prepareContainerFiles(paths, pod, container, attempt),
      })),
    linkContainerLog: (pod, container, attempt, id) =>
      effect('link container log', QUICK_MS, undefined, () => linkLog(paths, pod, container, attempt, id)),
    terminationMessage: (input) =>
      effect('read termination message', QUICK_MS, undefined, () => readTerminationMessage(input)),
    releasePod: (ref, _pod, signal, leftovers) =>
      effect('release pod', SLOW_MS, signal, async (inner) => {
        await tearDownVolumes(paths, ref.uid, inner);
        await cgroups.remove(ref.uid, leftovers);
      }),
    removeContainerLog: (id, logPath) =>
      effect('remove container log', QUICK_MS, undefined, () => removeLog(paths, id, logPath)),
    removePodData: (ref, pod, signal) =>
      effect('remove pod directory', SLOW_MS, signal, async () => {
        await refuseMounted(paths, ref.uid);
        await removeTree(podDirectory(paths, ref.uid));
        await removeTree(podLogDirectory(paths, pod ?? { metadata: ref }));
        await facts.remove(ref.uid);
        await removeDanglingLinks(paths);
        touched.delete(ref.uid);
      }),
    sweep: (keep, signal) =>
      effect('sweep', SLOW_MS, signal, (inner) => {
        const now = performance.now();
        for (const [uid, at] of touched) if (now - at > FRESH_MS) touched.delete(uid);
        return sweepLeftovers(
          { paths, cgroups, facts, logger, told },
          (uid) => keep.has(uid) || touched.has(uid),
          inner,
        );
      }),
  };
}
