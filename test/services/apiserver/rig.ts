import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kubectl } from '../../support/apiserver/kubectl.ts';
import type { KubeObject } from '../../support/apiserver/objects.ts';
import { ApiServer } from '../../support/apiserver/server.ts';
import type { ApiServerOptions } from '../../support/apiserver/server.ts';

/** A server in a folder of its own, with kubectl as administrator and as the kubelet of node `n1`. */
export interface Rig {
  server: ApiServer;
  admin: Kubectl;
  node: Kubectl;
  /** A request as the kubelet of n1 ('node') or as administrator; `code` 0 is a connection that broke. */
  call(who: 'admin' | 'node', method: string, path: string, body?: unknown, contentType?: string): Promise<Answer>;
  /** A watch as administrator; what comes is put into `events`. */
  watch(path: string): Promise<{ events: WatchLine[]; over: Promise<void>; stop(): void }>;
  close(): Promise<void>;
}

export interface Answer {
  code: number;
  // Bodies of every kind, which tests look into.
  body: Answered;
}
export interface Answered {
  [field: string]: unknown;
  kind?: string;
  reason?: string;
  message?: string;
  metadata?: KubeObject['metadata'];
  items?: KubeObject[];
}
export interface WatchLine {
  type: string;
  object: Answered;
}

export async function openRig(options: Partial<ApiServerOptions> = {}): Promise<Rig> {
  const directory = await mkdtemp(join(tmpdir(), 'apiserver-'));
  const server = await ApiServer.start({ directory, ...options });
  const [admin, node] = [new Kubectl(await server.admin()), new Kubectl(await server.node('n1'))];
  const keys = async (who: string) => ({
    ca: await readFile(join(directory, 'ca.crt')),
    cert: await readFile(join(directory, `${who === 'node' ? 'n1' : 'admin'}.crt`)),
    key: await readFile(join(directory, `${who === 'node' ? 'n1' : 'admin'}.key`)),
  });
  const send = async (who: string, method: string, path: string, body?: unknown, contentType = 'application/json') => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(text) };
    const options = { ...(await keys(who)), method, agent: false, headers };
    return new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(`${server.url}${path}`, options, resolve);
      sent.on('error', reject);
      sent.end(text);
    });
  };
  return {
    server,
    call: async (...args) => {
      try {
        const response = await send(...args);
        let text = '';
        for await (const chunk of response) text += String(chunk);
        return { code: response.statusCode ?? 0, body: JSON.parse(text) as Answered };
      } catch (error) {
        return { code: 0, body: { message: String(error) } };
      }
    },
    watch: async (path) => {
      const response = await send('admin', 'GET', path);
      const events: WatchLine[] = [];
      let rest = '';
      response.on('data', (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split('\n');
        rest = lines.pop() ?? '';
        events.push(...lines.map((line) => JSON.parse(line) as WatchLine));
      });
      response.on('error', () => response.destroy());
      const over = new Promise<void>((resolve) => response.once('close', () => resolve()));
      return { events, over, stop: () => response.destroy() };
    },
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
