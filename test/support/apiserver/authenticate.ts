import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ApiError } from './errors.ts';
import type { Authenticate } from './reviews.ts';
import { ANONYMOUS } from './users.ts';
import type { User } from './users.ts';

/**
 * Who sent a request: the client certificate's user (CN) and groups (O), else the bearer token's, else anonymous; whom
 * an administrator impersonates. Throws 401 for credentials that are not known.
 */
export function authenticate(message: IncomingMessage, bearer: Authenticate): User {
  return impersonated(userOf(message, bearer), message);
}

function userOf(message: IncomingMessage, bearer: Authenticate): User {
  const [scheme, token = ''] = (message.headers.authorization ?? '').split(' ');
  // Of a client that has gone meanwhile there is no certificate, and of a whole connection that has, no call for it either.
  const socket = message.socket as Omit<TLSSocket, 'getPeerCertificate'> & Partial<TLSSocket>;
  const peer = socket.getPeerCertificate?.() as { subject?: { CN?: string; O?: string | string[] } } | null;
  const subject = peer?.subject;
  if (subject && !socket.authorized) throw new ApiError(401, 'Unauthorized', 'Unauthorized');
  if (subject?.CN) return { username: subject.CN, groups: [...[subject.O ?? []].flat(), 'system:authenticated'] };
  if (scheme !== 'Bearer') return ANONYMOUS;
  const user = bearer(token);
  if (!user) throw new ApiError(401, 'Unauthorized', 'Unauthorized');
  return user;
}

/** `kubectl --as`: whoever may do everything may act as another. */
function impersonated(user: User, { headers }: IncomingMessage): User {
  const username = headers['impersonate-user'];
  if (typeof username !== 'string') return user;
  if (!user.groups.includes('system:masters'))
    throw new ApiError(403, 'Forbidden', `users "${username}" is forbidden: cannot impersonate`);
  const groups = [headers['impersonate-group'] ?? []].flat();
  return { username, groups: [...groups, 'system:authenticated'] };
}
