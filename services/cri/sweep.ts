import type { ObservedContainer, ObservedPod, ObservedSandbox, RuntimeListing } from '../../machines/runtime.types.ts';
import type { PodHost } from '../host/host.types.ts';
import type { Cri } from './client.ts';
import type { Observer } from './observe.ts';
import { removeContainer } from './verbs/remove-container.ts';
import { removePodSandbox } from './verbs/remove-pod-sandbox.ts';

/**
 * Removes what live pods have left behind in the runtime: ended instances of a container beyond the newest ended one
 * (--maximum-dead-containers-per-container 1), and ended sandboxes other than the newest that hold no container any
 * more (kuberuntime_gc.go:evictContainers, evictSandboxes). Nothing of pods that are not in `keep`: those have actors
 * of their own that end them.
 *
 * @returns ids of what was removed
 */
export async function sweepRuntime(
  { cri, host, observer }: { cri: Cri; host: Pick<PodHost, 'removeContainerLog'>; observer: Observer },
  keep: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<string[]> {
  const { pods } = await observer.listRuntime(signal);
  const removed: string[] = [];
  for (const listed of pods.filter((pod) => keep.has(pod.uid) && mayHaveLeftovers(pod))) {
    const pod = await observer.observePod(listed, signal);
    for (const { id, logPath } of oldInstances(pod)) {
      await removeContainer(cri, id, signal);
      observer.removed(id);
      await host.removeContainerLog(id, logPath);
      removed.push(id);
    }
    for (const { id } of emptySandboxes(pod, removed)) {
      await removePodSandbox(cri, id, signal);
      observer.removed(id);
      removed.push(id);
    }
  }
  return removed;
}

function mayHaveLeftovers({ sandboxes, containers }: RuntimeListing['pods'][number]): boolean {
  return sandboxes.length > 1 || containers.filter(({ state }) => state === 'exited').length > 1;
}

function oldInstances({ containers }: ObservedPod): ObservedContainer[] {
  const byName = Map.groupBy(
    containers.filter(({ state }) => state === 'exited'),
    ({ name }) => name,
  );
  return [...byName.values()].flatMap((newestFirst) => newestFirst.slice(1));
}

function emptySandboxes({ sandboxes, containers }: ObservedPod, removed: readonly string[]): ObservedSandbox[] {
  const used = new Set(containers.filter(({ id }) => !removed.includes(id)).map(({ sandboxId }) => sandboxId));
  return sandboxes.slice(1).filter(({ id, state }) => state === 'notReady' && !used.has(id));
}
