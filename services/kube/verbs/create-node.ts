import type { Node } from '../../../machines/kubernetes.types.ts';
import type { Kube } from '../client.ts';
import { NODES } from './paths.ts';

/** Registers the node. @throws AgentError `AlreadyExists` */
export function createNode(kube: Kube, node: Node, signal?: AbortSignal): Promise<Node> {
  return kube.request<Node>({
    op: 'create node',
    method: 'POST',
    path: NODES,
    body: node,
    turns: 'heartbeats',
    signal,
  });
}
