import { AgentError } from '../../machines/agent-error.types.ts';

/** The part of Kubernetes' `Status` object that errors are made of. */
export interface ApiStatus {
  kind?: string;
  code?: number;
  reason?: string;
  message?: string;
  details?: { retryAfterSeconds?: number; causes?: { field?: string }[] };
}

/** Reasons that Kubernetes gives to codes that come without one (apimachinery/pkg/api/errors:NewGenericServerResponse). */
const REASONS: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  408: 'Timeout',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** What apiserver calls otherwise in places and versions. */
function reasonOf(code: number, status: ApiStatus | undefined): string {
  const reason = status?.reason || (REASONS[code] ?? (code >= 500 ? 'InternalError' : 'Unknown'));
  if (reason === 'Gone') return 'Expired';
  // A patch that names another UID than the object's: as a precondition it would be a conflict, as an update that is refused
  // because the field is immutable it is invalid (registry/rest/update.go:BeforeUpdate).
  const otherUid = status?.details?.causes?.some(({ field }) => field === 'metadata.uid');
  return reason === 'Invalid' && otherUid ? 'Conflict' : reason;
}

/** Longest text of a body that is no Status object, in a message: some proxies answer with pages. */
const MAX_BODY_CHARS = 200;

/**
 * A refusal by the API server as AgentError: the reason is that of its Status (`NotFound`, `Conflict`, `AlreadyExists` …;
 * an older server's `Gone` is `Expired`, another UID than the patch's is `Conflict`), else the one that Kubernetes gives to the code. Transient: 408, 429 and 5xx.
 *
 * @param op the call in the field's words: `patch pod status`
 * @param body what came with the code: a Status object or any text
 * @param retryAfter the Retry-After header, s
 */
export function apiError(op: string, code: number, body: ApiStatus | string, retryAfter?: string): AgentError {
  const status = typeof body === 'string' ? parseStatus(body) : body;
  const text = typeof body === 'string' ? body.trim().slice(0, MAX_BODY_CHARS) : '';
  const seconds = status?.details?.retryAfterSeconds ?? Number(retryAfter);
  return new AgentError({
    op,
    reason: reasonOf(code, status),
    message: `${op}: ${status?.message || text || `the API server answered ${code}`}`,
    transient: code === 408 || code === 429 || code >= 500,
    ...(seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}),
  });
}

function parseStatus(text: string): ApiStatus | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as ApiStatus;
  } catch {
    // A proxy's answer may begin like an object too: then its text is the message.
    return undefined;
  }
}

/** The API server could not be reached, or the connection broke before its answer was complete. */
export function unavailable(op: string, server: string, cause: unknown): AgentError {
  if (cause instanceof AgentError) return cause;
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: string };
  const why = message || (typeof code === 'string' ? code : String(cause));
  return new AgentError({
    op,
    reason: 'UNAVAILABLE',
    message: `${op}: the API server at ${server} is not available: ${why}`,
    transient: true,
    cause,
  });
}

/** Nothing, or not all of the answer, came in time. */
export function tooLate(op: string, server: string, deadlineMs: number): AgentError {
  const message = `${op}: the API server at ${server} did not answer within ${deadlineMs / 1000} s`;
  return new AgentError({ op, reason: 'DEADLINE_EXCEEDED', message, transient: true });
}

/** Who asked for it no longer needs it, or the client is closed. */
export function cancelled(op: string): AgentError {
  return new AgentError({ op, reason: 'CANCELLED', message: `${op} was given up`, transient: true });
}

/** True for an AgentError of this reason, by its shape. */
export function hasReason(error: unknown, reason: string): boolean {
  return (error as { reason?: unknown } | undefined)?.reason === reason;
}
