import { parseArgs } from 'node:util';
import { ApiServer } from './server.ts';

/**
 * node test/support/apiserver/main.ts --dir <folder> [--port 6443] [--host 127.0.0.1] [--node <name>]... [--approve-nodes] [--schedule]
 * Writes admin.kubeconfig and <node>.kubeconfig into the folder, says where it listens, and serves until it is ended.
 */
const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    node: { type: 'string', multiple: true, default: [] },
    'approve-nodes': { type: 'boolean', default: false },
    schedule: { type: 'boolean', default: false },
  },
});
if (!values.dir) throw new Error('--dir: a folder for certificates and kubeconfigs is needed');
const server = await ApiServer.start({
  directory: values.dir,
  port: Number(values.port),
  host: values.host,
  approveNodes: values['approve-nodes'],
  schedule: values.schedule,
});
const written = [await server.admin()];
for (const name of values.node) written.push(await server.node(name));
console.log(JSON.stringify({ url: server.url, kubeconfigs: written }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
