import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Api, Target } from './api.ts';
import type { KeyPair } from './certificates.ts';
import { ApiError, badRequest } from './errors.ts';
import type { Request } from './handler.ts';
import { at, listAt, textAt } from './objects.ts';
import type { KubeObject } from './objects.ts';
import { resourceNamed } from './resources.ts';
import type { Route } from './route.ts';

const KUBELET_PORT = 10_250;
/** What the API calls the streams, and what the kubelet does. Source: registry/core/pod/strategy.go:streamParams. */
const STREAMS = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' };

/** Answers a pod's log with the kubelet's: `/containerLogs/<namespace>/<pod>/<container>`. */
export function proxyLog({ target, query, response }: Request, api: Api, keys: KeyPair): Promise<void> {
  const pod = api.get({ ...target, subresource: '' });
  const container = containerOf(pod, query);
  query.delete('container');
  const path = `/containerLogs/${target.namespace}/${target.name}/${container}?${query}`;
  return new Promise((resolve, reject) => {
    const asked = httpsRequest({ ...kubelet(pod, api), ...tls(keys), path }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'Content-Type': answer.headers['content-type'] ?? 'text/plain' });
      answer.pipe(response);
      resolve();
    });
    response.once('close', () => asked.destroy());
    asked.once('error', (error) => reject(unreachable(error)));
    asked.end();
  });
}

/** Hands a connection that is to be upgraded (exec, attach, port-forward) on to the pod's kubelet. */
export function tunnel(
  { target, query }: Route,
  message: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  api: Api,
  keys: KeyPair,
): void {
  const pod = api.get({ ...target, subresource: '' });
  const { authorization: _ours, ...headers } = message.headers;
  const asked = httpsRequest({
    ...kubelet(pod, api),
    ...tls(keys),
    method: message.method,
    path: upgradePath(target, pod, query),
    headers,
  });
  asked.once('upgrade', (answer, upstream, first) => {
    const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.join('')}\r\n`);
    socket.write(first);
    upstream.write(head);
    upstream.pipe(socket).pipe(upstream);
    // Whichever side goes takes the other with it.
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  asked.once('response', (answer) => {
    socket.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\nConnection: close\r\n\r\n`);
    answer.pipe(socket);
  });
  asked.once('error', (error) => socket.end(`HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n${error.message}`));
  asked.end();
}

function upgradePath({ namespace, name, subresource }: Target, pod: KubeObject, query: URLSearchParams): string {
  if (subresource === 'portforward') return `/portForward/${namespace}/${name}?${query}`;
  const container = containerOf(pod, query);
  const asked = new URLSearchParams(query.getAll('command').map((part): [string, string] => ['command', part]));
  for (const [ours, theirs] of Object.entries(STREAMS)) if (query.get(ours) === 'true') asked.set(theirs, '1');
  return `/${subresource}/${namespace}/${name}/${container}?${asked}`;
}

function containerOf(pod: KubeObject, query: URLSearchParams): string {
  const names = ['initContainers', 'containers', 'ephemeralContainers']
    .flatMap((list) => listAt(pod, `spec.${list}`))
    .map((container) => String(container['name']));
  const asked = query.get('container') || (names.length === 1 ? names[0] : undefined);
  if (asked === undefined)
    throw badRequest(
      `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(' ')}]`,
    );
  if (!names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${pod.metadata.name}`);
  return asked;
}

/** Where the kubelet of the pod's node listens. */
function kubelet(pod: KubeObject, api: Api): { host: string; port: number } {
  const name = textAt(pod, 'spec.nodeName');
  if (!name) throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  const node = api.get({ resource: resourceNamed('nodes'), namespace: '', name, subresource: '' });
  const addresses = listAt(node, 'status.addresses');
  const address = ['InternalIP', 'Hostname'].map((type) => addresses.find((a) => a['type'] === type)).find(Boolean);
  if (!address) throw new ApiError(500, 'InternalError', `no preferred addresses found for node ${name}`);
  const port = Number(at(node, 'status.daemonEndpoints.kubeletEndpoint.Port')) || KUBELET_PORT;
  return { host: textAt(address, 'address'), port };
}

/** The kubelet's own certificate is not checked, as without --kubelet-certificate-authority. */
const tls = ({ certificate, key }: KeyPair) => ({
  cert: certificate,
  key,
  rejectUnauthorized: false,
  agent: false as const,
});

const unreachable = (error: Error) => new ApiError(500, 'InternalError', `Get kubelet: ${error.message}`);
