import type { ParentRef } from '../agent.types.ts';
import { AgentError } from '../agent-error.types.ts';
import { happened } from '../notify.ts';

/** Told of after so many failures in a row, which a mere hiccup does not reach. */
const TELL_AT = 5;

/**
 * Tells once of what the node's charts try again and again: one more failure makes it a lasting one.
 *
 * @param failures in a row before this one
 * @param says what cannot be done: `lease of node n cannot be renewed`
 * @param op of an error that names none
 */
export function tellLasting(
  { failures, parent }: { failures: number; parent: ParentRef },
  { reason, says, op, error }: { reason: string; says: string; op: string; error: unknown },
): void {
  if (failures + 1 !== TELL_AT) return;
  const message = `${says}, which is tried again until it can: ${AgentError.from(error, op).message}`;
  happened(parent, { type: 'Warning', reason, message });
}
