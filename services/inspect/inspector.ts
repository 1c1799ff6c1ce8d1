import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { listen, type ListeningServer } from '../server/listen.ts';
import { Client, type Wants } from './client.ts';
import { hostAndPort, refusal, requestUrl } from './gate.ts';
import { Hub } from './hub.ts';
import type { ClientMessage, InspectorLimits, InspectorOptions, ServerMessage } from './inspect.types.ts';
import { readMessage } from './messages.ts';
import { answer, PageFiles } from './page-files.ts';
import { keepUrl, keptToken, removeUrl } from './token.ts';

/** Longest message of a client, bytes. */
const MAX_MESSAGE = 64 * 1024;
/** How long clients have to take their leave when the agent stops, ms. */
const LEAVE_MS = 100;
const PLAIN = 'text/plain; charset=utf-8';

const LIMITS: InspectorLimits = {
  clients: 32,
  bufferedBytes: 1024 * 1024,
  stuckMs: 30_000,
  messagesPerSecond: 100,
  watched: 32,
  contextChars: 256 * 1024,
  share: 0.03,
};

/**
 * Serves the page and its socket on a loopback address. Whatever clients do or leave undone, the agent goes on.
 * @throws an error that names the file, where the token cannot be kept
 */
export async function startInspector(options: InspectorOptions): Promise<ListeningServer> {
  const { host, port, folder, live, charts, explain, node, version, startedAt, write, log } = options;
  const limits = { ...LIMITS, ...options.limits };
  const token = await keptToken(folder);
  const files = new PageFiles(options.pages);
  const hello = (): ServerMessage => ({ type: 'statelet.hello', version, node, startedAt, writable: !!write });
  const hub = new Hub({ live, charts, explain, hello, limits, log });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE,
    perMessageDeflate: false,
    clientTracking: false,
  });

  /** Let in or refused: the HTTP server no longer knows them, and does not end while one is open. */
  const upgraded = new Set<Duplex>();
  let seen = 0;

  const judged = (request: IncomingMessage, needsToken: boolean) =>
    refusal(request, { host, port: request.socket.localPort ?? port }, token, needsToken);

  const handler = (request: IncomingMessage, response: ServerResponse) => {
    const path = requestUrl(request)?.pathname ?? '/';
    const refused = judged(request, path === '/' || path === '/index.html');
    if (refused) return answer(response, refused.status, PLAIN, `${refused.text}\n`);
    files.serve(path, response).catch((error: Error) => {
      log('error', `inspector: ${path}: ${error.message}`);
      answer(response, 500, PLAIN, 'the file cannot be read\n');
    });
  };

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgraded.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => upgraded.delete(socket));
    const refused = judged(request, true);
    const url = requestUrl(request);
    if (refused) return refuse(socket, refused.status, refused.text);
    if (url?.pathname !== '/ws') return refuse(socket, 404, 'accepted is /ws');
    if (hub.size >= limits.clients) return refuse(socket, 503, `accepted are ${limits.clients} clients`);
    const only = url.searchParams.get('only');
    const wants: Wants = { own: only !== 'xstate', xstate: only !== 'statelet' };
    sockets.handleUpgrade(request, socket, head, (opened) => welcome(opened, wants));
  };

  const welcome = (socket: WebSocket, wants: Wants) => {
    const client = new Client(socket, wants, limits, () => performance.now());
    const who = (seen += 1);
    // Its close follows.
    socket.on('error', (error) => log('warn', `inspector: client: ${error.message}`));
    socket.on('close', () => hub.remove(client));
    socket.on('message', (data, isBinary) => {
      const complain = (message: string) =>
        client.send(JSON.stringify({ type: 'statelet.error', message } satisfies ServerMessage));
      if (!client.mayAsk()) return client.end(1008, 'too many messages');
      if (isBinary) return complain('accepted are messages of text');
      const message = readMessage(String(data));
      if ('problem' in message) return complain(message.problem);
      const problem = follow(client, message, who);
      if (problem) complain(problem);
    });
    hub.add(client);
  };

  /** Does what a client asks; a text says why not. */
  const follow = (client: Client, message: ClientMessage, who: number): string | undefined => {
    switch (message.type) {
      case 'xstate.inspecting':
        if (!client.wants.xstate) return 'xstate.inspecting: not with only=statelet';
        hub.inspecting(client);
        return undefined;
      case 'statelet.watch':
        if (!live.actor(message.sessionId)) return `statelet.watch: ${message.sessionId}: there is no such actor`;
        if (!hub.watch(client, message.sessionId)) return `statelet.watch: accepted are ${limits.watched} at a time`;
        return undefined;
      case 'statelet.explain':
        if (!live.actor(message.sessionId)) return `statelet.explain: ${message.sessionId}: there is no such actor`;
        if (!hub.explain(client, message.sessionId))
          return `statelet.explain: accepted are ${limits.watched} at a time`;
        return undefined;
      case 'statelet.unwatch':
        client.watched.delete(message.sessionId);
        return undefined;
      case 'xstate.event':
        return sendEvent(message.service, message.event, who);
    }
  };

  const sendEvent = (sessionId: string, event: { type: string }, who: number): string | undefined => {
    if (!write) return 'xstate.event: this agent takes no events: accepted is one that runs with --inspect-write';
    const accepted = write.accepts(sessionId);
    if (!accepted) return `xstate.event: ${sessionId}: there is no such actor`;
    if (!accepted.includes(event.type))
      return `xstate.event: ${JSON.stringify(event.type)} is not taken in this state: accepted are ${accepted.join(', ')}`;
    const { id, machine } = live.actor(sessionId) ?? { id: sessionId, machine: 'actor' };
    log('warn', `inspector: client ${who} sends ${event.type} to ${machine} ${id} (${sessionId})`);
    write.send(sessionId, event);
    return undefined;
  };

  const server = listen({ name: 'inspector', fields: '--inspect', host, port, handler, upgrade, log });
  const url = server.listening.then(async (address) => {
    if (!address) return;
    const shown = `http://${hostAndPort({ host, port: address.port })}/?token=${token}`;
    await keepUrl(folder, shown).catch((error: Error) =>
      log('error', `inspector: its address cannot be kept: ${error.message}`),
    );
    log('info', `inspector: ${shown}${write ? ' (its pages may send events)' : ''}`);
  });
  return {
    listening: server.listening,
    async close() {
      hub.close();
      const cut = () => upgraded.forEach((socket) => socket.destroy());
      const timer = setTimeout(cut, LEAVE_MS);
      await server.close();
      clearTimeout(timer);
      cut();
      await url;
      await removeUrl(folder);
    },
  };
}

/** The socket is ended on both sides: one that its client keeps half open would stay. */
function refuse(socket: Duplex, status: number, text: string): void {
  const body = `${text}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Type: ${PLAIN}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
