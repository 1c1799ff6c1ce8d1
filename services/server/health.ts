import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentView } from './server.types.ts';

/** Checks by the names they have in the kubelet; `ping` only says that the process answers. */
const CHECKS = ['ping', 'syncloop'] as const;

/**
 * Answers `/healthz` and `/healthz/<check>` as apiserver's healthz package does: `ok`, or 500 with a line for each
 * check and the reason. `?verbose` shows the lines always, `?exclude=<check>` leaves one out.
 * @returns false where the path is none of these
 */
export function answerHealth(request: IncomingMessage, response: ServerResponse, view: AgentView): boolean {
  const url = new URL(request.url ?? '/', 'http://host');
  const [, , only, ...more] = url.pathname.split('/');
  const known = only === undefined || only === '' || CHECKS.some((c) => c === only);
  if (!/^\/healthz(\/|$)/.test(url.pathname) || more.length || !known) return false;
  const { ok, reason = 'no reason given' } = view.healthy();
  const excluded = url.searchParams.getAll('exclude');
  const wanted = only ? CHECKS.filter((c) => c === only) : CHECKS.filter((c) => !excluded.includes(c));
  const failed = !ok && wanted.includes('syncloop');
  const lines = wanted.map((c) => (c === 'syncloop' && failed ? `[-]syncloop failed: ${reason}` : `[+]${c} ok`));
  const text = `${lines.join('\n')}\nhealthz check ${failed ? 'failed' : 'passed'}\n`;
  const body = failed || url.searchParams.has('verbose') ? text : 'ok';
  response.writeHead(failed ? 500 : 200, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache, private',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
  return true;
}
