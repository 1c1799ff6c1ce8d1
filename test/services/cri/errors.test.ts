import { Metadata, status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { criError, isNotFound, isUnimplemented } from '../../../services/cri/errors.ts';

const SOCKET = '/run/r.sock';

function failure(code: status, details: string): ServiceError {
  return Object.assign(new Error(`${code} ${details}`), { code, details, metadata: new Metadata() });
}

describe('a gRPC failure becomes an AgentError once', () => {
  test.each([
    [status.NOT_FOUND, 'container "3f2c": not found', 'NOT_FOUND', false],
    [status.UNIMPLEMENTED, 'unknown method GetContainerEvents', 'UNIMPLEMENTED', false],
    [status.INVALID_ARGUMENT, 'malformed', 'INVALID_ARGUMENT', false],
    [status.FAILED_PRECONDITION, 'container is not created', 'FAILED_PRECONDITION', false],
    [status.RESOURCE_EXHAUSTED, 'message too large', 'RESOURCE_EXHAUSTED', true],
    [status.UNKNOWN, 'failed to set up network', 'UNKNOWN', true],
    [status.UNKNOWN, 'RegistryUnavailable: the registry is away', 'RegistryUnavailable', true],
    [status.UNKNOWN, 'SignatureValidationFailed: bad key', 'SignatureValidationFailed', true],
    [
      status.UNKNOWN,
      'failed to reserve container name "a_b_0": name "a_b_0" is reserved for "3f2c"',
      'NameReserved',
      true,
    ],
    [status.UNKNOWN, 'error reserving ctr name k8s_a for id 3f2c: name is reserved', 'NameReserved', true],
  ])('status %d, %j is %s', (code, details, reason, transient) => {
    const error = criError(failure(code, details), 'CreateContainer', SOCKET);
    expect(error).toMatchObject({ op: 'CreateContainer', reason, transient, message: details });
  });

  test('a deadline says which call was not answered', () => {
    const details = 'Deadline exceeded after 10.001s,LB pick: 0.002s,remote_addr=unix:/run/r.sock';
    expect(criError(failure(status.DEADLINE_EXCEEDED, details), 'ContainerStatus', SOCKET)).toMatchObject({
      reason: 'DEADLINE_EXCEEDED',
      transient: true,
      message: 'ContainerStatus: the runtime at /run/r.sock did not answer within 10.001s',
    });
  });

  test.each([
    [
      'No connection established. Last error: Error: connect ENOENT /run/r.sock. Resolution note: ',
      'connect ENOENT /run/r.sock',
    ],
    ['No connection established. Last error: null. Resolution note: no such name', 'null (no such name)'],
    ['Connection dropped', 'Connection dropped'],
    ['the runtime is shutting down', 'the runtime is shutting down'],
  ])('where there is no connection, the call, the socket and the reason are told: %j', (details, reason) => {
    expect(criError(failure(status.UNAVAILABLE, details), 'Version', SOCKET)).toMatchObject({
      reason: 'UNAVAILABLE',
      transient: true,
      message: `Version: the runtime at /run/r.sock is not available: ${reason}`,
    });
  });

  test('the questions that callers ask', () => {
    expect(isNotFound(criError(failure(status.NOT_FOUND, 'gone'), 'StopContainer', SOCKET))).toBe(true);
    expect(isNotFound(criError(failure(status.UNKNOWN, 'not found'), 'StopContainer', SOCKET))).toBe(false);
    expect(isUnimplemented(criError(failure(status.UNIMPLEMENTED, 'no'), 'RuntimeConfig', SOCKET))).toBe(true);
  });
});
