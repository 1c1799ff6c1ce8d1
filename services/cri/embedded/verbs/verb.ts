import type { MethodName, RequestOf, ResponseOf } from '../methods.ts';
import type { Runtime } from '../runtime.ts';

export interface CallContext {
  /** Aborted when the client has gone (unless a fault has the call finish late) or the server stops. */
  signal: AbortSignal;
  /** Where a `midway` fault strikes. */
  midway(): Promise<void>;
}

/** One unary CRI method. Refuses by throwing a RuntimeFailure. */
export type Verb<Name extends MethodName> = (
  runtime: Runtime,
  request: RequestOf<Name>,
  context: CallContext,
) => ResponseOf<Name> | Promise<ResponseOf<Name>>;

/** The `info` of a verbose answer, JSON under one key as containerd has it; empty where not asked for. */
export function verboseInfo(verbose: boolean, info: object): Record<string, string> {
  return verbose ? { info: JSON.stringify(info) } : {};
}
