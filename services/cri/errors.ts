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
 */
export function criError(error: ServiceError, op: string): AgentError {
  const { code } = error;
  const details = error.details || error.message;
  const message =
    code === status.DEADLINE_EXCEEDED ? `${op}: the runtime did not answer in time (${details})` : details;
  const reason = RESERVED.test(details)
    ? 'NameReserved'
    : (PULL_REASON.exec(details)?.[1] ?? status[code] ?? status[status.UNKNOWN]);
  return new AgentError({ op, reason, message, transient: TRANSIENT.has(code), cause: error });
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
