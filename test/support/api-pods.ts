import type { DesiredPod, PodCondition, PodStatus } from '../../machines/kubernetes.types.ts';
import type { ApiPod } from '../../machines/syncloop/api-source.types.ts';
import type { WantedPod } from '../../machines/syncloop/status-writer.types.ts';
import { pod } from './fixtures.ts';

/** A pod as the API has it for the writer of its status: the fixture's pod, resourceVersion 10, no status. */
export function apiPod(over: Partial<ApiPod> = {}): ApiPod {
  return { uid: 'uid-1', name: 'web', namespace: 'default', resourceVersion: '10', ...over };
}

/** What the agent has of an API pod. */
export function wantedPod(over: Partial<WantedPod> = {}): WantedPod {
  return { pod: pod(), source: 'api', released: false, ...over };
}

/** A static pod; its config.hash is its UID. */
export function staticPod(uid = 'static-1', name = 'etcd'): DesiredPod {
  const annotations = { 'kubernetes.io/config.hash': uid, 'kubernetes.io/config.source': 'file' };
  return pod({ uid, name, namespace: 'kube-system', metadata: { annotations } });
}

export function wantedStatic(over: Partial<WantedPod> = {}): WantedPod {
  return wantedPod({ pod: staticPod(), source: 'file', ...over });
}

/** The mirror pod of `staticPod()`. */
export function mirrorPod(over: Partial<ApiPod> = {}): ApiPod {
  return apiPod({ uid: 'mirror-1', name: 'etcd', namespace: 'kube-system', mirrorHash: 'static-1', ...over });
}

export function condition(type: string, status: string, lastTransitionTime = '2026-01-01T00:00:00Z'): PodCondition {
  return { type, status, lastTransitionTime };
}

/** A status with one container `app`. */
export function podStatus(phase: string, over: Partial<PodStatus> = {}): PodStatus {
  return { phase, conditions: [condition('Ready', phase === 'Running' ? 'True' : 'False')], ...over };
}
