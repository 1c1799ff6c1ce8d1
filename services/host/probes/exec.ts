import { AgentError } from '../../../machines/agent-error.types.ts';
import { expand } from '../../../machines/pod/policy/expand.ts';
import type { ProbeOutcome, RunProbeInput } from '../../../machines/pod/probe.types.ts';

/**
 * Runs a command in a container, to its end; `timeoutSeconds` later it is killed.
 *
 * @throws AgentError `ExecTimeout` where the time ran out, else where the runtime could not run it
 */
export type Execute = (
  id: string,
  cmd: string[],
  timeoutSeconds: number,
  signal: AbortSignal,
) => Promise<{ exitCode: number; output: string }>;

/**
 * A command in the container: exit code 0 is success, any other or a time that ran out is failure
 * (probe/exec/exec.go:Probe). `$(NAME)` in it is replaced from the variables of the container as they are written, so
 * one that has no literal value is empty (container/helpers.go:ExpandContainerCommandOnlyStatic).
 */
export async function execProbe(
  execute: Execute,
  { id, container: { env = [] } }: Pick<RunProbeInput, 'id' | 'container'>,
  command: string[],
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const variables = new Map(env.map(({ name, value = '' }) => [name, value]));
  const cmd = command.map((text) => expand(text, variables));
  try {
    const { exitCode, output } = await execute(id, cmd, timeoutSeconds, signal);
    return { result: exitCode === 0 ? 'success' : 'failure', message: output };
  } catch (error) {
    if (!(error instanceof AgentError) || error.reason !== 'ExecTimeout') throw error;
    return { result: 'failure', message: error.message };
  }
}
