import { status } from '@grpc/grpc-js';

/** A refusal of the runtime: becomes the gRPC status of the call. Texts are containerd's where an agent could read them. */
export class RuntimeFailure extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.name = 'RuntimeFailure';
    this.code = code;
  }

  /** Any thrown value as a refusal; what is not one already is UNKNOWN, as a Go server has it. */
  static from(error: unknown): RuntimeFailure {
    if (error instanceof RuntimeFailure) return error;
    return new RuntimeFailure(status.UNKNOWN, textField(error, 'message') ?? String(error));
  }
}

export function notFound(message: string): RuntimeFailure {
  return new RuntimeFailure(status.NOT_FOUND, `${message}: not found`);
}

export function invalid(message: string): RuntimeFailure {
  return new RuntimeFailure(status.INVALID_ARGUMENT, message);
}

/** Most of containerd's refusals carry no code of their own. */
export function refused(message: string): RuntimeFailure {
  return new RuntimeFailure(status.UNKNOWN, message);
}

/** The `code` of a system error, such as ENOENT; undefined for anything else. Errors of another realm count too. */
export function errno(error: unknown): string | undefined {
  return textField(error, 'code');
}

function textField(error: unknown, name: 'code' | 'message'): string | undefined {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}
