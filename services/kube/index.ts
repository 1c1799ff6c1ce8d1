import { fromPromise } from 'xstate';
import type { LeaseSlots } from '../../machines/node/lease.types.ts';
import type { NodeStatusSlots } from '../../machines/node/node-status.types.ts';
import type { NodeSlots } from '../../machines/node/node.types.ts';
import type { WatchSlot } from '../../machines/slot.types.ts';
import type { ApiSourceSlots, WatchPodsInput } from '../../machines/syncloop/api-source.types.ts';
import type { EventRecorderSlots } from '../../machines/syncloop/event-recorder.types.ts';
import type { PodWriterSlots } from '../../machines/syncloop/status-writer.types.ts';
import type { FactStore } from '../host/facts.ts';
import type { Kube } from './client.ts';
import { keptPods } from './kept-pods.ts';
import { mirrorPod } from './mirror-pod.ts';
import { createEvent } from './verbs/create-event.ts';
import { createLease } from './verbs/create-lease.ts';
import { createNode } from './verbs/create-node.ts';
import { createPod } from './verbs/create-pod.ts';
import { deletePod } from './verbs/delete-pod.ts';
import { getLease } from './verbs/get-lease.ts';
import { getNode } from './verbs/get-node.ts';
import { getPod } from './verbs/get-pod.ts';
import { listPods } from './verbs/list-pods.ts';
import { patchEvent } from './verbs/patch-event.ts';
import { patchNode } from './verbs/patch-node.ts';
import { patchNodeStatus } from './verbs/patch-node-status.ts';
import { patchPodStatus } from './verbs/patch-pod-status.ts';
import { updateLease } from './verbs/update-lease.ts';
import { watchPodsSlot } from './watch-slot.ts';

/**
 * The effects of the API as a source of pods.
 *
 * @param kept where pods are kept for an API server that is away
 * @param random uniform in [0, 1)
 */
export function apiSourceSlots(
  kube: Kube,
  kept: FactStore,
  random: () => number,
): ApiSourceSlots & { watchPods: WatchSlot<WatchPodsInput> } {
  return {
    ...keptPods(kept),
    listPods: fromPromise(({ input: { nodeName }, signal }) => listPods(kube, nodeName, signal)),
    watchPods: watchPodsSlot(kube, random),
  };
}

/** The effects of writing pods: status, removal, mirror pods. */
export function podWriterSlots(kube: Kube): PodWriterSlots {
  const remove: PodWriterSlots['deletePod'] = fromPromise(({ input, signal }) => deletePod(kube, input, signal));
  return {
    patchStatus: fromPromise(async ({ input, signal }) => {
      const { metadata, status } = await patchPodStatus(kube, input, signal);
      return { resourceVersion: metadata?.resourceVersion ?? '', status: status ?? {} };
    }),
    getPod: fromPromise(({ input, signal }) => getPod(kube, input, signal)),
    deletePod: remove,
    createMirror: fromPromise(({ input: { pod, nodeUid }, signal }) =>
      createPod(kube, pod.metadata.namespace, mirrorPod(pod, nodeUid), signal),
    ),
    deleteMirror: remove,
  };
}

/** The effects of the Node object and its lease that need the API; what the host and the runtime tell is not here. */
export function nodeSlots(
  kube: Kube,
): Omit<NodeSlots & NodeStatusSlots, 'readNodeFacts' | 'updateRuntimeConfig'> & LeaseSlots {
  return {
    createNode: fromPromise(({ input: { node }, signal }) => createNode(kube, node, signal)),
    getNode: fromPromise(({ input: { nodeName }, signal }) => getNode(kube, nodeName, signal)),
    patchNode: fromPromise(({ input: { nodeName, patch }, signal }) => patchNode(kube, nodeName, patch, signal)),
    patchNodeStatus: fromPromise(({ input: { nodeName, patch }, signal }) =>
      patchNodeStatus(kube, nodeName, patch, signal),
    ),
    getLease: fromPromise(({ input: { nodeName }, signal }) => getLease(kube, nodeName, signal)),
    createLease: fromPromise(({ input: { lease }, signal }) => createLease(kube, lease, signal)),
    updateLease: fromPromise(({ input: { lease }, signal }) => updateLease(kube, lease, signal)),
  };
}

/** The effects of recording events. */
export function eventRecorderSlots(kube: Kube): EventRecorderSlots {
  return {
    createEvent: fromPromise(({ input: { event }, signal }) => createEvent(kube, event, signal)),
    patchEvent: fromPromise(({ input, signal }) => patchEvent(kube, input, signal)),
  };
}
