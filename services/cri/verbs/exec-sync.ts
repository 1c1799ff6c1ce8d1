import { AgentError } from '../../../machines/agent-error.types.ts';
import { goDuration } from '../../../machines/pod/policy/duration.ts';
import { firstText } from '../../first-text.ts';
import type { Cri } from '../client.ts';
import { endedByRuntime, endedByUs } from '../errors.ts';
import { containerStatus } from './container-status.ts';
import { EXEC_MARGIN_MS } from './deadlines.ts';

/** Bytes of output that are read (probe/exec/exec.go:maxReadLength). */
const MAX_OUTPUT = 10 * 1024;

export interface Executed {
  exitCode: number;
  /** stdout and then stderr, 10,240 bytes in all. */
  output: string;
}

/**
 * ExecSync: a command in a container, to its end. The runtime kills it after `timeoutSeconds`; the call's own deadline
 * is a little longer. Where that passes although the runtime answers otherwise, the command is what hangs: containerd
 * waits for children of a killed command that hold its output.
 *
 * @param timeoutSeconds whole seconds, at least 1
 * @param signal gives the command up: the runtime kills it
 * @throws AgentError `ExecTimeout` where the command took longer, with the kubelet's words
 * (cri-client remote_runtime.go:ExecSync); else errors.ts
 */
export async function execSync(
  cri: Cri,
  containerId: string,
  cmd: string[],
  timeoutSeconds: number,
  signal?: AbortSignal,
): Promise<Executed> {
  const timeoutMs = timeoutSeconds * 1000;
  const options = { deadlineMs: timeoutMs + EXEC_MARGIN_MS, signal };
  try {
    const request = { containerId, cmd, timeout: BigInt(timeoutSeconds) };
    const { stdout, stderr, exitCode } = await cri.call('execSync', request, options);
    return { exitCode, output: firstText(Buffer.concat([stdout, stderr]), MAX_OUTPUT) };
  } catch (error) {
    const timedOut = endedByRuntime(error) || (endedByUs(error) && (await isKnown(cri, containerId, signal)));
    if (!timedOut) throw error;
    const message = `command timed out: ${JSON.stringify(cmd.join(' '))} timed out after ${goDuration(timeoutMs)}`;
    throw new AgentError({ op: 'ExecSync', reason: 'ExecTimeout', message, transient: true, cause: error });
  }
}

async function isKnown(cri: Cri, containerId: string, signal?: AbortSignal): Promise<boolean> {
  return await containerStatus(cri, containerId, signal).then(
    () => true,
    () => false,
  );
}
