import { request } from 'node:http';
import { AgentError } from '../../machines/agent-error.types.ts';

const DEADLINE_MS = 5000;

/**
 * What the agent that listens on the socket answers (control-socket.ts).
 * @throws AgentError NotRunning, PermissionDenied, NotFound where the agent is of a version that does not know the path, or
 * Unexpected
 */
export async function askAgent(socketPath: string, path: string): Promise<unknown> {
  const op = `ask the agent on ${socketPath}`;
  const { status, body } = await new Promise<{ status?: number; body: string }>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(mapped(error, op, socketPath));
    const call = request({ socketPath, path, signal: AbortSignal.timeout(DEADLINE_MS) }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, body: text }));
      response.on('error', fail);
    });
    call.on('error', fail);
    call.end();
  });
  if (status === 404)
    throw new AgentError({
      ...{ op, reason: 'NotFound', transient: false },
      message: `${socketPath}: the agent that runs knows no ${path}; it may be of another version than this command`,
    });
  try {
    if (status !== 200) throw new Error(`the agent could not answer: ${body}`);
    return JSON.parse(body) as unknown;
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
