import type { RequestListener, ServerResponse } from 'node:http';
import { answerHealth } from './health.ts';
import { listen, type ListeningServer } from './listen.ts';
import { podListBody } from './pod-list.ts';
import type { AgentView, ServerLog } from './server.types.ts';

interface ServeOptions {
  host: string;
  port: number;
  view: AgentView;
  log: ServerLog;
  restartMs?: number;
}

/** `/healthz` on healthzBindAddress:healthzPort (cmd/kubelet/app/server.go:run). */
export function serveHealthz({ view, ...where }: ServeOptions): ListeningServer {
  const handler: RequestListener = (request, response) => {
    if (!answerHealth(request, response, view)) notFound(response);
  };
  return listen({ name: 'healthz', fields: 'healthzBindAddress, healthzPort', handler, ...where });
}

/** The read-only server: `/healthz` and `/pods` on address:readOnlyPort, without authentication (pkg/kubelet/server). */
export function serveReadOnly({ view, ...where }: ServeOptions): ListeningServer {
  const body = podListBody(view);
  const handler: RequestListener = (request, response) => {
    if (answerHealth(request, response, view)) return;
    const [path] = (request.url ?? '').split('?');
    if (path !== '/pods' && path !== '/pods/') notFound(response);
    else if (request.method !== 'GET' && request.method !== 'HEAD')
      plain(response, 405, '405: Method Not Allowed', { allow: 'GET' });
    else {
      const bytes = body();
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
      response.end(bytes);
    }
  };
  return listen({ name: 'read-only', fields: 'address, readOnlyPort', handler, ...where });
}

function notFound(response: ServerResponse): void {
  plain(response, 404, '404 page not found');
}

function plain(response: ServerResponse, code: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(code, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(`${text}\n`);
}
