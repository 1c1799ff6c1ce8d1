import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Where the server listens. */
export interface Place {
  host: string;
  port: number;
}

/** An answer that refuses, without a hint at what would have been right where that is a secret. */
export interface Refusal {
  status: 400 | 403 | 405;
  text: string;
}

/**
 * Judges a request before anything else is done with it. A page of another site is kept out three times: by Host (a name
 * of its own that leads here, DNS rebinding), by Origin, and by the token.
 * @param needsToken false for the page's scripts and styles, which are the same on every node
 */
export function refusal(
  request: IncomingMessage,
  place: Place,
  token: string,
  needsToken: boolean,
): Refusal | undefined {
  if (request.method !== 'GET') return { status: 405, text: 'accepted is GET' };
  const { host, origin } = request.headers;
  const own = ownHosts(place);
  if (host === undefined || !own.includes(host.toLowerCase()))
    return { status: 403, text: 'this Host is not accepted here' };
  if (origin !== undefined && !own.some((name) => origin.toLowerCase() === `http://${name}`))
    return { status: 403, text: 'this Origin is not accepted here' };
  const url = requestUrl(request);
  if (!url) return { status: 400, text: 'the path cannot be read' };
  if (needsToken && !sameText(url.searchParams.get('token') ?? '', token)) return { status: 403, text: 'forbidden' };
  return undefined;
}

/** The address of a request; undefined where it is none. */
export function requestUrl(request: IncomingMessage): URL | undefined {
  const path = request.url ?? '';
  return path.startsWith('/') && URL.canParse(`http://host${path}`) ? new URL(`http://host${path}`) : undefined;
}

/** `[::1]:10270` */
export function hostAndPort({ host, port }: Place): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Names under which this server may be asked. A browser leaves port 80 out. */
function ownHosts({ host, port }: Place): string[] {
  const names = [...new Set([host, 'localhost'])];
  return names.flatMap((name) => {
    const full = hostAndPort({ host: name, port });
    return port === 80 ? [full, full.slice(0, -':80'.length)] : [full];
  });
}

/** Takes the same time wherever they differ. */
function sameText(given: string, right: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}
