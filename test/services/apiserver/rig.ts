import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kubectl } from '../../support/apiserver/kubectl.ts';
import { ApiServer } from '../../support/apiserver/server.ts';
import type { ApiServerOptions } from '../../support/apiserver/server.ts';

/** A server in a folder of its own, with kubectl as administrator and as the kubelet of node `n1`. */
export interface Rig {
  server: ApiServer;
  admin: Kubectl;
  node: Kubectl;
  close(): Promise<void>;
}

export async function openRig(options: Partial<ApiServerOptions> = {}): Promise<Rig> {
  const directory = await mkdtemp(join(tmpdir(), 'apiserver-'));
  const server = await ApiServer.start({ directory, ...options });
  const [admin, node] = [new Kubectl(await server.admin()), new Kubectl(await server.node('n1'))];
  return {
    server,
    admin,
    node,
    close: async () => {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** A pod that is bound to node n1. */
export const podOf = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'busybox:1.36', command: ['sleep', '1000'] }], ...spec },
});

export const nodeN1 = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } },
  status: {
    capacity: { cpu: '4', memory: '8Gi', pods: '110' },
    allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
    addresses: [
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: 'n1' },
    ],
  },
};
