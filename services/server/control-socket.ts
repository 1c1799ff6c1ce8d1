import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, rm, rmdir, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError } from '../../machines/agent-error.types.ts';
import { errno, ifThere } from '../host/effect.ts';
import { actorTree } from '../live/actor-tree.ts';
import { targetOf } from '../explain/target.ts';
import type { AgentView, RunningServer } from './server.types.ts';
import { makeDirectory } from '../host/make-directory.ts';

/** The kernel's bound on a socket's path, without its closing zero. */
const MAX_PATH = 107;
/** One that died while it removed a dead socket is overtaken after this long, ms; it takes a moment only. */
const TURN_MS = 5_000;
const WAIT_MS = 50;
const TRIES = 200;

/** <root-dir>/statelet/statelet.sock */
export function controlSocketPath(rootDir: string): string {
  return join(rootDir, 'statelet', 'statelet.sock');
}

/**
 * The local socket that the commands ask: HTTP, JSON. `GET /actors` answers the tree of `statelet ps`, `GET /live` the same
 * actors with effects, timers and tags, `GET /history?actor=pod default/web` what that one did, of a pod all that is about it;
 * without a name, the newest of what all did. `GET /explain?pod=default/web` (`?container=default/web/main`, `?node`) says why it is where it is.
 * Mode 0600 in a folder of mode 0700. A socket that nobody answers on any more is replaced.
 * @throws AgentError AlreadyRunning where another agent answers on it, InvalidPath where the path is too long
 */
export async function serveControlSocket(
  path: string,
  view: Pick<AgentView, 'live' | 'explain'>,
): Promise<RunningServer> {
  const op = `listen on ${path}`;
  if (Buffer.byteLength(path) > MAX_PATH)
    throw new AgentError({
      op,
      reason: 'InvalidPath',
      message: `${path}: the path of a socket may have ${MAX_PATH} bytes: accepted is a shorter --root-dir`,
      transient: false,
    });
  const folder = dirname(path);
  await makeDirectory(folder, 0o700);
  await chmod(folder, 0o700);
  const server = createServer((request, response) => {
    const { status, body } = respond(request.method, request.url, view);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  // It answers under a name of its own before it takes the real one: whoever finds that one taken can tell by whom.
  const own = join(folder, `.${randomBytes(5).toString('hex')}`);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(AgentError.from(error, op)));
    server.listen(own, resolve);
  });
  const close = () =>
    new Promise<void>((done) => {
      server.closeAllConnections();
      server.close(() => done());
    });
  try {
    await chmod(own, 0o600);
    await takeName(own, path, op);
    await rm(own, { force: true });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async close() {
      await rm(path, { force: true });
      await close();
    },
  };
}

/** A fault in what only shows the agent must not end it: the asker is told of it. */
function respond(method: string | undefined, url = '/', view: Pick<AgentView, 'live' | 'explain'>) {
  try {
    const found = method === 'GET' ? answer(url, view) : undefined;
    if (found) return { status: 200, body: found };
    return { status: 404, body: { message: 'accepted are GET /actors, /live, /history and /explain' } };
  } catch (error) {
    return { status: 500, body: { message: AgentError.from(error, `GET ${url}`).message } };
  }
}

/** Undefined: nothing of that name is here. */
function answer(url: string, { live, explain }: Pick<AgentView, 'live' | 'explain'>): object | undefined {
  const { pathname, searchParams } = URL.parse(url, 'http://localhost') ?? {};
  switch (pathname) {
    case '/actors':
      return actorTree(live.actors());
    case '/live':
      return live.actors();
    case '/history':
      return historyOf(searchParams?.get('actor') ?? undefined, { live, explain });
    case '/explain': {
      const target = searchParams && targetOf(searchParams);
      return target && explain(target);
    }
    default:
      return undefined;
  }
}

/** Of a static pod by the name in its manifest too, as explain takes it. */
function historyOf(actor: string | undefined, { live, explain }: Pick<AgentView, 'live' | 'explain'>) {
  const found = live.history(actor);
  const [, kind = '', path = ''] = /^(pod|container) (.+)$/.exec(actor ?? '') ?? [];
  const target = found.length === 0 && kind ? targetOf(new URLSearchParams({ [kind]: path })) : undefined;
  return target ? live.history(`${kind} ${explain(target).name}`) : found;
}

/**
 * Links the socket under its real name, which the kernel lets one of many do. One that nobody answers on is removed first,
 * by one at a time: or two that start together would each remove what the other has just linked.
 */
async function takeName(own: string, path: string, op: string): Promise<void> {
  const turn = `${path}.turn`;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (await succeeds(link(own, path), 'EEXIST')) return;
    if (await answers(path)) break;
    if (await succeeds(mkdir(turn), 'EEXIST')) {
      try {
        if (!(await answers(path))) await rm(path, { force: true });
      } finally {
        await rmdir(turn);
      }
      continue;
    }
    // Another one is at it; one that was killed while it was is not waited for.
    const since = (await ifThere(stat(turn)))?.mtimeMs ?? 0;
    if (Date.now() - since > TURN_MS) await rm(turn, { recursive: true, force: true });
    else await sleep(WAIT_MS);
  }
  throw new AgentError({
    op,
    reason: 'AlreadyRunning',
    message: `${path}: another agent answers here: accepted is one agent for a --root-dir`,
    transient: false,
  });
}

/** False where it failed in the way that is named. */
async function succeeds(work: Promise<unknown>, unless: string): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (errno(error) === unless) return false;
    throw error;
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end(true));
    // Whatever else it is (a full queue of a busy agent), somebody is there.
    socket.once('error', (error) => end(!['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'].includes(errno(error) ?? '')));
  });
}
