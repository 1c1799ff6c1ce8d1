import { request } from 'node:http';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { ActorNode } from './server.types.ts';

const DEADLINE_MS = 5000;

/**
 * The actors of the agent that listens on the socket.
 * @throws AgentError NotRunning, PermissionDenied, or Unexpected
 */
export async function askActors(socketPath: string): Promise<ActorNode[]> {
  const op = `ask the agent on ${socketPath}`;
  const body = await new Promise<string>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(mapped(error, op, socketPath));
    const call = request({ socketPath, path: '/actors', signal: AbortSignal.timeout(DEADLINE_MS) }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
      response.on('error', fail);
    });
    call.on('error', fail);
    call.end();
  });
  try {
    return JSON.parse(body) as ActorNode[];
  } catch (error) {
    throw AgentError.from(error, op);
  }
}

function mapped(error: NodeJS.ErrnoException, op: string, path: string): AgentError {
  const why: Record<string, [string, string]> = {
    ENOENT: ['NotRunning', 'no agent runs with this --root-dir'],
    ECONNREFUSED: ['NotRunning', 'no agent answers; it ended without cleaning up'],
    EACCES: ['PermissionDenied', 'only the user that runs the agent may ask it'],
    ABORT_ERR: ['DeadlineExceeded', `no answer in ${DEADLINE_MS / 1000} s`],
  };
  const [reason, message] = why[error.code ?? ''] ?? ['Unexpected', error.message];
  return new AgentError({
    op,
    reason,
    message: `${path}: ${message}`,
    transient: reason !== 'PermissionDenied',
    cause: error,
  });
}
