import { AgentError } from '../../../machines/agent-error.types.ts';

/** A field of an answer that the protocol promises; @throws AgentError where the runtime left it out. */
export function answered<T>(value: T | undefined, op: string, field: string): T {
  if (value !== undefined) return value;
  const message = `${op}: the runtime answered without ${field}`;
  throw new AgentError({ op, reason: 'INTERNAL', message, transient: true });
}
