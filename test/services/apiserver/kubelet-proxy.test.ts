import { createServer } from 'node:https';
import type { Server } from 'node:https';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import { nodeN1, openRig, podOf } from './rig.ts';
import type { Rig } from './rig.ts';

/** The part of a kubelet that is asked: it tells what it was asked for, and echoes what comes over an upgraded connection. */
let kubelet: Server;
let rig: Rig;
const read = (name: string) => readFile(join(rig.server.directory, name));

beforeAll(async () => {
  rig = await openRig({ schedule: true });
  kubelet = createServer({
    cert: await read('apiserver.crt'),
    key: await read('apiserver.key'),
    requestCert: true,
    rejectUnauthorized: false,
  });
  kubelet.on('request', (message, response) => response.end(`log of ${message.url}`));
  kubelet.on('upgrade', (message, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${message.headers.upgrade}\r\n\r\n${message.url}\n`,
    );
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', () => resolve()));
  const { port } = kubelet.address() as AddressInfo;
  const status = {
    ...nodeN1.status,
    conditions: [{ type: 'Ready', status: 'True' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await rig.call('node', 'POST', '/api/v1/nodes', { ...nodeN1, status });
  await rig.call('admin', 'POST', '/api/v1/namespaces/default/pods', podOf('web', { nodeName: undefined }));
});
afterAll(async () => {
  await rig.close();
  kubelet.closeAllConnections();
  kubelet.close();
});

test('a scheduler binds the pod to the ready node', async () => {
  await until('the pod being bound', async () => {
    const { body } = await rig.call('admin', 'GET', '/api/v1/namespaces/default/pods/web');
    return (body['spec'] as { nodeName?: string }).nodeName === 'n1';
  });
});

test('kubectl logs shows what the kubelet of the pod answers', async () => {
  expect(await rig.admin.run('logs', 'web', '--tail=5')).toBe('log of /containerLogs/default/web/c?tailLines=5');
});

test('a connection for exec is handed on to the kubelet', async () => {
  const options = {
    ca: await read('ca.crt'),
    cert: await read('admin.crt'),
    key: await read('admin.key'),
    headers: { Connection: 'Upgrade', Upgrade: 'SPDY/3.1' },
  };
  const asked = request(
    `${rig.server.url}/api/v1/namespaces/default/pods/web/exec?command=sh&command=-i&stdin=true&stdout=true`,
    options,
  );
  let heard = '';
  let end: () => unknown = () => undefined;
  asked.on('response', (response) => (heard += `refused: ${response.statusCode}`));
  asked.on('upgrade', (_answer, socket, head) => {
    heard += head.toString();
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    end = () => socket.destroy();
    socket.write('echo');
  });
  asked.end();
  await until('the echo', () => heard === '/exec/default/web/c?command=sh&command=-i&input=1&output=1\necho', {
    told: () => heard,
  });
  end();
});
