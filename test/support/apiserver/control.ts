import { ApiError, badRequest } from './errors.ts';
import type { Fault } from './faults.ts';
import type { ApiServer } from './server.ts';
import type { User } from './users.ts';

/**
 * Faults over HTTP, for a server that runs as a program. POST bodies are JSON:
 * `/control/fault` (a Fault), `/control/clear`, `/control/cut-watches`, `/control/compact`, `/control/outage` `{ms}`,
 * `/control/skew` `{ms}`, `/control/bind` `{namespace, name, node}`. `/control/journal` answers `{journal}`.
 */
export function control(server: ApiServer, user: User, path: string, body: string): object {
  if (!user.groups.includes('system:masters')) throw new ApiError(403, 'Forbidden', 'faults are for system:masters');
  const input = (body ? JSON.parse(body) : {}) as Fault & {
    ms?: number;
    namespace?: string;
    name?: string;
    node?: string;
  };
  switch (path) {
    case '/control/fault':
      server.faults.add(input);
      break;
    case '/control/clear':
      server.faults.clear();
      break;
    case '/control/cut-watches':
      server.cutWatches();
      break;
    case '/control/compact':
      server.compact();
      break;
    case '/control/outage':
      // Begins when this answer is out.
      setImmediate(() => void server.outage(input.ms ?? 1000));
      break;
    case '/control/skew':
      server.faults.skewMs = input.ms ?? 0;
      break;
    case '/control/bind':
      server.bind(input.namespace ?? 'default', input.name ?? '', input.node ?? '');
      break;
    case '/control/journal':
      return { journal: server.journal };
    default:
      throw badRequest(`${path}: one of fault, clear, cut-watches, compact, outage, skew, bind, journal is known`);
  }
  return { done: path };
}
