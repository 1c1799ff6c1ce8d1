import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { AgentView, RunningServer } from './server.types.ts';

/** The kernel's bound on a socket's path, without its closing zero. */
const MAX_PATH = 107;

/** <root-dir>/statelet/statelet.sock */
export function controlSocketPath(rootDir: string): string {
  return join(rootDir, 'statelet', 'statelet.sock');
}

/**
 * The local socket that `statelet ps` asks: HTTP, `GET /actors` answers the tree as JSON. Mode 0600 in a folder of
 * mode 0700. A socket that nobody answers on any more is replaced.
 * @throws AgentError AlreadyRunning where another agent answers on it, InvalidPath where the path is too long
 */
export async function serveControlSocket(path: string, view: Pick<AgentView, 'actors'>): Promise<RunningServer> {
  const op = `listen on ${path}`;
  if (Buffer.byteLength(path) > MAX_PATH)
    throw new AgentError({
      op,
      reason: 'InvalidPath',
      message: `${path}: the path of a socket may have ${MAX_PATH} bytes: accepted is a shorter --root-dir`,
      transient: false,
    });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await chmod(dirname(path), 0o700);
  if (await answers(path))
    throw new AgentError({
      op,
      reason: 'AlreadyRunning',
      message: `${path}: another agent answers here: accepted is one agent for a --root-dir`,
      transient: false,
    });
  await rm(path, { force: true });
  const server = createServer((request, response) => {
    const found = request.method === 'GET' && request.url === '/actors';
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ? view.actors() : { message: 'accepted is GET /actors' }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(AgentError.from(error, op)));
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  return {
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
