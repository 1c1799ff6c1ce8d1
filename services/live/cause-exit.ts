import type { ObservedContainer } from '../../machines/runtime.types.ts';
import type { Cause } from './live.types.ts';

/** Instances that have ended since, newest first; those that nobody knew before have not. */
export function newExits(
  before: readonly ObservedContainer[],
  after: readonly ObservedContainer[],
): readonly ObservedContainer[] {
  if (before === after) return [];
  return after.filter(({ id, state }) => state === 'exited' && before.some((b) => b.id === id && b.state !== 'exited'));
}

/** Signals by the code that a shell or a runtime makes of them. */
const SIGNALS: Readonly<Record<number, string>> = {
  130: 'SIGINT',
  134: 'SIGABRT',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  143: 'SIGTERM',
};

/** How a container ended. Its message is what it wrote itself, and stays out of it. */
export function exitCause({ name, exitCode, reason }: ObservedContainer): Cause {
  if (reason === 'OOMKilled') return { by: 'oom', detail: `container ${name} was killed for want of memory` };
  if (exitCode === undefined) return { by: 'exit', detail: `container ${name} ended, nobody knows how` };
  const signal = SIGNALS[exitCode];
  return { by: 'exit', detail: `container ${name} ended with code ${exitCode}${signal ? ` (${signal})` : ''}` };
}
