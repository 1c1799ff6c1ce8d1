import type { PodStatus } from '../../kubernetes.types.ts';
import { CONFIG_HASH_ANNOTATION } from '../../pod/policy/names.ts';
import type { ApiPod } from '../api-source.types.ts';
import type { WantedPod } from '../status-writer.types.ts';
import { runsPastItsEnd } from './merge-containers.ts';
import { isTerminal, mergeStatus, sameStatus } from './merge-status.ts';

/** All that decides on what has to be written of one pod. */
export interface WriterView {
  /** Undefined: the agent has the pod no more. */
  wanted?: WantedPod;
  /** What the API has: of a static pod, the mirror pod under its name. */
  api?: ApiPod;
  /** Newest resourceVersion heard; undefined: absence from the API means nothing yet. */
  heard?: string;
  nodeUid?: string;
  /** UID of the object whose deletion the API has accepted; a finalizer may keep it. */
  deleted?: string;
  /** The last write, and what the API made of it: the same is not written twice. */
  written?: { asked: PodStatus; got: PodStatus };
}

export type Write =
  | { do: 'createMirror' | 'deleteMirror' | 'deletePod' | 'nothing' }
  | { do: 'writeStatus'; status: PodStatus }
  /** Nothing is left to be done, ever. */
  | { do: 'over' };

/** The one write that is due now (status/status_manager.go:syncPod, canBeDeleted; kubelet.go:tryReconcileMirrorPods). */
export function nextWrite(view: WriterView): Write {
  const { wanted, api } = view;
  if (!wanted) return { do: api?.mirrorHash === undefined ? 'over' : 'deleteMirror' };
  const mirror = wanted.source === 'api' ? 'keep' : nextOfMirror(wanted, view);
  if (mirror !== 'keep') return { do: mirror };
  if (!api) return { do: 'nothing' };
  const status = statusToWrite(wanted, api, view);
  if (status) return { do: 'writeStatus', status };
  const isOver = wanted.source === 'api' && wanted.released && isTerminal(api.status);
  return { do: isOver && api.deletionTimestamp && view.deleted !== api.uid ? 'deletePod' : 'nothing' };
}

/**
 * What is due of the mirror pod before a status can be written to it. One that is not this static pod's is left alone
 * while the static pod ends: it is deleted when nobody has the pod any more. One that tells of an end which the API lets
 * nobody take back is no place for the status of a static pod that runs: it was refused and is taken in after all, or a
 * container that was over runs again because its definition changed.
 */
function nextOfMirror({ pod, ending, status }: WantedPod, { api, heard, nodeUid }: WriterView) {
  if (!api) return heard !== undefined && nodeUid !== undefined && !ending ? 'createMirror' : 'nothing';
  const isOwn = api.mirrorHash === pod.metadata.annotations?.[CONFIG_HASH_ANNOTATION];
  if (ending) return isOwn ? 'keep' : 'nothing';
  const isOfAnEnd =
    status !== undefined &&
    ((isTerminal(api.status) && !isTerminal(status)) || runsPastItsEnd(pod, api.status, status));
  return isOwn && !isOfAnEnd && !api.deletionTimestamp ? 'keep' : 'deleteMirror';
}

/** The merged status where the API does not have it. */
function statusToWrite({ pod, status }: WantedPod, api: ApiPod, { written }: WriterView): PodStatus | undefined {
  if (!status) return undefined;
  const merged = mergeStatus(pod, api.status, status);
  if (sameStatus(merged, api.status)) return undefined;
  const isInVain = written && sameStatus(merged, written.asked) && sameStatus(api.status, written.got);
  return isInVain ? undefined : merged;
}
