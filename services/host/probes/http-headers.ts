import type { Probe } from '../../../machines/kubernetes.types.ts';
import { USER_AGENT } from './user-agent.ts';

type HttpHeaders = NonNullable<NonNullable<Probe['httpGet']>['httpHeaders']>;

export interface ProbeHeaders {
  /** Host, where the probe sets one. */
  host?: string;
  /** Names and values in turn; a name may come several times. */
  list: string[];
}

/** Set by the request itself, whatever the probe says (net/http/request.go:reqWriteExcludeHeader; DisableKeepAlives). */
const NOT_SENT = new Set(['host', 'user-agent', 'connection', 'content-length', 'transfer-encoding', 'trailer']);

/**
 * The headers of a probe's requests (probe/http/request.go:newProbeRequest). An empty Accept or User-Agent sends none. One that
 * no request can have is refused when the request is made.
 */
export function headersOf(httpHeaders: HttpHeaders): ProbeHeaders {
  const first = (wanted: string) => httpHeaders.find(({ name }) => name.toLowerCase() === wanted)?.value;
  const userAgent = first('user-agent') ?? USER_AGENT;
  const accept = first('accept');
  const sent = httpHeaders.filter(({ name }) => {
    const lower = name.toLowerCase();
    return !NOT_SENT.has(lower) && !(lower === 'accept' && accept === '');
  });
  return {
    host: first('host') || undefined,
    list: [
      ...(userAgent === '' ? [] : ['User-Agent', bytes(userAgent)]),
      ...(accept === undefined ? ['Accept', '*/*'] : []),
      ...sent.flatMap(({ name, value }) => [name, bytes(value)]),
    ],
  };
}

/** Node sends a character as one byte; what is meant is UTF-8. */
const bytes = (value: string): string => Buffer.from(value).toString('latin1');
