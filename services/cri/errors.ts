import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { AgentError } from '../../machines/agent-error.types.ts';

/** Statuses after which the very same call can succeed later with nothing else changed. */
const TRANSIENT = new Set<status>([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.RESOURCE_EXHAUSTED,
  status.ABORTED,
  status.CANCELLED,
  status.INTERNAL,
  // What runtimes give no code of their own comes as UNKNOWN: a registry that is away, a busy mount, a failed CNI call.
  status.UNKNOWN,
]);

/** containerd: `name "app_web_…_0" is reserved for "3f2c…"`; CRI-O: `name is reserved`. */
const RESERVED = /\bname (?:"[^"]*" )?is reserved\b/;

/** Words that a runtime puts before a pull's error for the agent to show as reason (cri-api/pkg/errors/errors.go). */
const PULL_REASON = /^(RegistryUnavailable|SignatureValidationFailed)\b/;

/**
 * A gRPC failure of one CRI call as AgentError: the reason is the name of its status (`NOT_FOUND`), save for
 * `NameReserved` (the message names the id that holds the name) and the two reasons of PullImage.
 *
 * @param op the call in CRI's words: `CreateContainer`
 * @param socket path of the socket that was called
 */
export function criError(error: ServiceError, op: string, socket: string): AgentError {
  const { code } = error;
  const details = error.details || error.message;
  const reason = RESERVED.test(details)
    ? 'NameReserved'
    : (PULL_REASON.exec(details)?.[1] ?? status[code] ?? status[status.UNKNOWN]);
  const message = messageOf(code, details, op, socket);
  return new AgentError({ op, reason, message, transient: TRANSIENT.has(code), cause: error });
}

/**
 * The runtime's own words stand as they are, for statuses show them. Where it said nothing, the message names the call
 * and the socket, and of what the gRPC library says only the reason.
 */
function messageOf(code: status, details: string, op: string, socket: string): string {
  if (code === status.UNAVAILABLE) {
    const reason = details
      .replace(/^No connection established\. Last error: (?:Error: )?/, '')
      .replace(/\.? ?Resolution note: *(.*)$/s, (_, note: string) => (note ? ` (${note})` : ''));
    return `${op}: the runtime at ${socket} is not available: ${reason || 'no reason given'}`;
  }
  if (code !== status.DEADLINE_EXCEEDED) return details;
  const after = /exceeded after ([\d.]+ ?s)/.exec(details)?.[1];
  return `${op}: the runtime at ${socket} did not answer ${after ? `within ${after}` : 'in time'}`;
}

/** The wait or call was given up because who asked for it no longer needs it. */
export function abortedError(op: string): AgentError {
  return new AgentError({ op, reason: 'CANCELLED', message: `${op} was given up`, transient: true });
}

export function isNotFound(error: unknown): boolean {
  return error instanceof AgentError && error.reason === 'NOT_FOUND';
}

export function isUnimplemented(error: unknown): boolean {
  return error instanceof AgentError && error.reason === 'UNIMPLEMENTED';
}

/** What grpc-js says of its own deadline; what a runtime says of one of its own has other words. */
const OWN_DEADLINE = /^Deadline exceeded\b/;

/** containerd: `timeout 1s exceeded: context deadline exceeded`, by its versions with one status or another. */
const EXEC_TIMEOUT = /\btimeout \S+ exceeded\b|\bcommand timed out\b/;

/** The call's deadline passed without an answer. */
export function endedByUs(error: unknown): boolean {
  const cause = causeOf(error);
  return cause?.code === status.DEADLINE_EXCEEDED && OWN_DEADLINE.test(cause.details);
}

/** The runtime answered that what it was to wait for took too long. */
export function endedByRuntime(error: unknown): boolean {
  const cause = causeOf(error);
  if (cause?.code === status.DEADLINE_EXCEEDED) return !OWN_DEADLINE.test(cause.details);
  return cause?.code === status.UNKNOWN && EXEC_TIMEOUT.test(cause.details);
}

function causeOf(error: unknown): ServiceError | undefined {
  return error instanceof AgentError ? (error.cause as ServiceError | undefined) : undefined;
}
