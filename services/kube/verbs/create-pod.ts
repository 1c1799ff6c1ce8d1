import type { Pod } from '../../../machines/kubernetes.types.ts';
import type { Kube } from '../client.ts';
import { podsPath } from './paths.ts';

/** Creates the pod, of which a mirror is the only one that a node creates. @throws AgentError `AlreadyExists` */
export function createPod(kube: Kube, namespace: string, pod: Pod, signal?: AbortSignal): Promise<Pod> {
  return kube.request<Pod>({ op: 'create pod', method: 'POST', path: podsPath(namespace), body: pod, signal });
}
