import { podFullName } from '../../pod/policy/names.ts';
import type { ApiPod, ApiPods } from '../api-source.types.ts';
import type { WantedPod } from '../status-writer.types.ts';
import { refusedStatus } from './refused-status.ts';

/** The API's pods, to be looked up. */
export interface ApiIndex {
  resourceVersion: string;
  byUid: ReadonlyMap<string, ApiPod>;
  /** Mirror pods by full name. */
  mirrors: ReadonlyMap<string, ApiPod>;
}

export interface WritersView {
  /** By UID, in the order in which they came. */
  wanted: Readonly<Record<string, WantedPod>>;
  /** Undefined: the API has not been heard. */
  api?: ApiIndex;
  sourcesReady: boolean;
  /** UIDs of mirror pods that count as absent: they were deleted after this set. */
  gone: readonly string[];
  /** ms since the epoch */
  now: number;
}

/** A pod that is to have a writer, with what that writer has to know. */
export interface Assignment {
  /** The pod's UID; for a mirror pod that has no static pod, its own. */
  key: string;
  namespace: string;
  name: string;
  /** It writes to the mirror pod of this name: two such writers of one name exclude each other. */
  isStatic: boolean;
  wanted?: WantedPod;
  api?: ApiPod;
}

export function indexApi({ resourceVersion, pods }: ApiPods): ApiIndex {
  return {
    resourceVersion,
    byUid: new Map(pods.map((pod) => [pod.uid, pod])),
    mirrors: new Map(pods.filter(isMirror).map((pod) => [podFullName({ metadata: pod }), pod])),
  };
}

/**
 * Every pod that has something to be written: those that the agent has, those that it refuses, and mirror pods whose static
 * pod is gone once that can be known (kubelet_pods.go:HandlePodCleanups). Of static pods that share a name the first has
 * the mirror pod; the next gets it when that one is forgotten.
 */
export function assignWriters({ wanted, api, sourcesReady, gone, now }: WritersView): Assignment[] {
  const assignments: Assignment[] = [];
  const names = new Set<string>();
  for (const [key, pod] of Object.entries(wanted)) {
    const { namespace, name } = pod.pod.metadata;
    if (pod.source === 'api') {
      assignments.push({ key, namespace, name, isStatic: false, wanted: pod, api: api?.byUid.get(key) });
      continue;
    }
    const fullName = podFullName(pod.pod);
    if (names.has(fullName)) continue;
    names.add(fullName);
    const mirror = api?.mirrors.get(fullName);
    const object = mirror && !gone.includes(mirror.uid) ? mirror : undefined;
    assignments.push({ key, namespace, name, isStatic: true, wanted: pod, api: object });
  }
  for (const pod of api?.byUid.values() ?? []) {
    const { uid: key, namespace, name, refused } = pod;
    if (refused && !wanted[key])
      assignments.push({
        key,
        namespace,
        name,
        isStatic: false,
        wanted: { pod: refused.pod, source: 'api', status: refusedStatus(refused, now), released: true },
        api: pod,
      });
    if (sourcesReady && isMirror(pod) && !gone.includes(key) && !names.has(podFullName({ metadata: pod })))
      assignments.push({ key, namespace, name, isStatic: true, api: pod });
  }
  return assignments;
}

const isMirror = ({ mirrorHash }: ApiPod) => mirrorHash !== undefined;
