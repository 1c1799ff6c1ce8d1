import type { RawManifest } from '../../../machines/syncloop/pod-source.types.ts';
import { errno } from '../effect.ts';
import { decodeManifest, MAX_MANIFEST } from './decode.ts';

/** config/http.go: client timeout. */
const TIMEOUT_MS = 10_000;

/**
 * The manifest at a URL; redirects are followed. A server that does not answer, or not with a manifest, is an error of
 * this origin (config/http.go:extractFromURL).
 *
 * @param headers --manifest-url-header: a name's values
 */
export async function readUrl(
  location: string,
  headers: Record<string, string[]>,
  signal: AbortSignal,
): Promise<RawManifest[]> {
  const { url, origin, authorization } = withoutCredentials(location);
  const send = new Headers(authorization ? { authorization } : {});
  for (const [name, values] of Object.entries(headers)) for (const value of values) send.append(name, value);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, { headers: send, signal: AbortSignal.any([signal, timeout]) });
    if (response.status !== 200) {
      await response.body?.cancel();
      return [{ origin, error: `the server answered ${response.status} ${response.statusText}`.trimEnd() }];
    }
    const bytes = await limited(response);
    if (bytes.length === 0) return [{ origin, error: 'the server answered with no data' }];
    return [{ origin, text: decodeManifest(bytes) }];
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return [{ origin, error: `the server did not answer within ${TIMEOUT_MS / 1000} s` }];
    const { message = String(error), cause } = (error ?? {}) as { message?: string; cause?: unknown };
    const { message: why = errno(cause) } = (cause ?? {}) as { message?: string };
    return [{ origin, error: why ? `${message}: ${why}` : message }];
  }
}

/** User and password of the URL go into a header, never into an origin that is shown. */
function withoutCredentials(location: string): { url: URL; origin: string; authorization?: string } {
  const url = new URL(location);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  if (!username && !password) return { url, origin: location };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { url, origin: url.href, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

async function limited(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the body.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_MANIFEST) throw new Error('is larger than 10 MiB');
  }
  return Buffer.concat(chunks);
}
