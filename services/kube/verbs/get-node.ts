import type { Node } from '../../../machines/kubernetes.types.ts';
import type { Kube } from '../client.ts';
import { nodePath } from './paths.ts';

/** The Node as the store has it. @throws AgentError `NotFound` */
export function getNode(kube: Kube, nodeName: string, signal?: AbortSignal): Promise<Node> {
  return kube.request<Node>({
    op: 'get node',
    method: 'GET',
    path: nodePath(nodeName),
    turns: 'heartbeats',
    signal,
  });
}
