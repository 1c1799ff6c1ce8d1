import { request as requestHttp } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import type { Probe } from '../../../machines/kubernetes.types.ts';
import type { ProbeOutcome } from '../../../machines/pod/probe.types.ts';
import { firstText } from '../../first-text.ts';
import { headersOf } from './http-headers.ts';
import type { ProbeHeaders } from './http-headers.ts';
import { networkError } from './network-error.ts';
import { address, invalidProbe } from './target.ts';

/** Bytes of a body that are read (probe/http/http.go:maxRespBodyLength). */
const MAX_BODY = 10 * 1024;
const MAX_REQUESTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** One request of a probe: the first, or one that an answer redirected to. */
interface Hop {
  url: URL;
  /** As the URL has it, without brackets. */
  host: string;
  port: number;
  /** What the Host header is where the probe sets none: host and port. */
  authority: string;
  /** The URL as messages have it: nothing of a user or password. */
  text: string;
}

/**
 * GET, and whether the answer's status is one of 200 to 399 (probe/http/http.go:DoHTTPProbe). Each request has a connection of
 * its own, through no proxy, and is closed as soon as enough is read; a certificate is not verified.
 *
 * Redirects are followed to the host of the first URL only, to any scheme and port there, ten requests in all; an answer
 * that leads elsewhere, or nowhere, is a warning. The probe's headers go with each.
 *
 * @param time when it is aborted, the time is over: a failure
 */
export async function httpProbe(
  { scheme = 'HTTP', path = '/', httpHeaders = [] }: NonNullable<Probe['httpGet']>,
  host: string,
  port: number,
  time: AbortSignal,
): Promise<ProbeOutcome> {
  const authority = address(host, port);
  const url = URL.parse(`${scheme.toLowerCase()}://${authority}${path.startsWith('/') ? path : `/${path}`}`);
  if (!url) throw invalidProbe(`invalid host ${JSON.stringify(host)}`);
  const first = hopTo(url, authority);
  const headers = headersOf(httpHeaders);
  const failed = (at: Hop, why: string): ProbeOutcome => ({ result: 'failure', message: `Get "${at.text}": ${why}` });

  let hop = first;
  let hostHeader = headers.host;
  for (let requests = 1; ; requests += 1) {
    let response: IncomingMessage;
    try {
      response = await get(hop, { ...headers, host: hostHeader }, time);
    } catch (error) {
      const late = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
      return failed(hop, time.aborted ? late : networkError(error, hop.host, address(hop.host, hop.port)));
    }
    const location = locationOf(response);
    if (location === undefined) return await judged(response, time);
    const next = URL.parse(location, hop.url.href);
    if (next && hostOf(next) !== first.host) return await judged(response, time);
    response.destroy();
    if (!next) return failed(hop, `failed to parse Location header ${JSON.stringify(location)}`);
    hop = hopTo(next, next.host);
    if (requests === MAX_REQUESTS) return failed(hop, `stopped after ${MAX_REQUESTS} redirects`);
    if (!/^https?:$/.test(next.protocol)) {
      return failed(hop, `unsupported protocol scheme "${next.protocol.slice(0, -1)}"`);
    }
    // As Go has it: a Host of one's own goes on with a location that names no scheme (net/http/client.go:do).
    hostHeader = /^[a-z][a-z\d+.-]*:/i.test(location) ? undefined : headers.host;
  }
}

function hopTo(url: URL, authority: string): Hop {
  const host = hostOf(url);
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return { url, host, port, authority, text: `${url.protocol}//${authority}${url.pathname}${url.search}` };
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

/** Where the answer redirects to, if it does. */
function locationOf({ statusCode = 0, headers: { location } }: IncomingMessage): string | undefined {
  return REDIRECTS.has(statusCode) && location ? Buffer.from(location, 'latin1').toString() : undefined;
}

/** The answer as far as its headers, on a connection of its own. */
function get(hop: Hop, { host = hop.authority, list }: ProbeHeaders, time: AbortSignal): Promise<IncomingMessage> {
  const secure = hop.url.protocol === 'https:';
  const named = host.replace(/:\d+$/, '');
  const options: RequestOptions = {
    agent: false,
    host: hop.host,
    port: hop.port,
    path: `${hop.url.pathname}${hop.url.search}`,
    headers: ['Host', host, ...list, 'Connection', 'close'],
    signal: time,
    // A container's server may be as sloppy as Go's client bears it.
    insecureHTTPParser: true,
    maxHeaderSize: 1024 * 1024,
    // The certificate is a server's that is found by its address: nothing that it says counts.
    ...(secure ? { rejectUnauthorized: false, servername: isIP(named) || named.startsWith('[') ? '' : named } : {}),
  };
  return new Promise((resolve, reject) => {
    const request = (secure ? requestHttps : requestHttp)(options);
    // One that comes after the answer is the body's to tell.
    request.on('error', reject);
    request.once('response', resolve);
    request.end();
  });
}

/** What the last answer means. A failure's message has nothing of the body (kubernetes/kubernetes issue 99425). */
async function judged(response: IncomingMessage, time: AbortSignal): Promise<ProbeOutcome> {
  const { statusCode = 0 } = response;
  if (statusCode < 200 || statusCode >= 400) {
    response.destroy();
    return { result: 'failure', message: `HTTP probe failed with statuscode: ${statusCode}` };
  }
  try {
    const body = await beginningOf(response);
    if (statusCode < 300) return { result: 'success', message: body };
    return { result: 'warning', message: `Probe terminated redirects, Response body: ${body}` };
  } catch {
    const late = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';
    return { result: 'failure', message: time.aborted ? late : 'unexpected EOF' };
  }
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving closes the connection.
    if (length > MAX_BODY) break;
  }
  return firstText(Buffer.concat(chunks), MAX_BODY);
}
