import type { Node } from '../../../machines/kubernetes.types.ts';
import type { NodePatch } from '../../../machines/node/node.types.ts';
import type { Kube } from '../client.ts';
import { nodePath, STRATEGIC_MERGE } from './paths.ts';

/** Changes the Node's status. @throws AgentError `NotFound`, `Conflict` for another UID */
export function patchNodeStatus(kube: Kube, nodeName: string, patch: NodePatch, signal?: AbortSignal): Promise<Node> {
  return kube.request<Node>({
    op: 'patch node status',
    method: 'PATCH',
    path: `${nodePath(nodeName)}/status`,
    contentType: STRATEGIC_MERGE,
    body: patch,
    turns: 'heartbeats',
    signal,
  });
}
