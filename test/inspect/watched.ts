import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket, type ClientOptions } from 'ws';
import { assign, createActor, getNextTransitions, setup, type ActorRefFrom } from 'xstate';
import { chartsOf } from '../../services/charts/chart-of.ts';
import { startInspector } from '../../services/inspect/index.ts';
import type { InspectorLimits, InspectorOptions } from '../../services/inspect/inspect.types.ts';
import { createLiveSystem } from '../../services/live/live-system.ts';
import { until } from '../support/until.ts';

type LampEvent = { type: 'lamp.toggle' } | { type: 'lamp.break' } | { type: 'lamp.tell'; text: string };

/** A child with states, a timer, a context that may be large, and an event that breaks it. */
const lampMachine = setup({
  types: {} as { context: { text: string }; events: LampEvent },
  delays: { burnOut: 60_000_000 },
  guards: { never: () => false },
})
  .createMachine({
    id: 'lamp',
    description: 'A lamp.',
    initial: 'off',
    context: { text: '' },
    on: {
      'lamp.tell': { actions: assign({ text: ({ event }) => event.text }) },
      'lamp.break': {
        actions: () => {
          throw new Error('the lamp breaks');
        },
      },
    },
    states: {
      off: { description: 'No light.', on: { 'lamp.toggle': { target: 'on' } } },
      on: {
        description: 'Light.',
        initial: 'dim',
        on: { 'lamp.toggle': { target: 'off' } },
        states: {
          dim: {
            description: 'Some.',
            after: { burnOut: { target: '#lamp.off' } },
            always: { target: 'bright', guard: 'never' },
          },
          bright: { description: 'Much.' },
        },
      },
    },
  })
  .provide({ guards: { never: () => false } });

/** XState's own event, when a lamp breaks. */
type RoomEvent = { type: `xstate.error.actor.${string}` } | { type: 'room.add'; id: string };

/** A parent that lives on when a lamp breaks. */
const roomMachine = setup({
  types: {} as {
    context: { lamps: Record<string, ActorRefFrom<typeof lampMachine> | undefined> };
    events: RoomEvent;
  },
  actors: { lamp: lampMachine },
}).createMachine({
  id: 'room',
  description: 'A room.',
  initial: 'lit',
  context: { lamps: {} },
  states: {
    lit: {
      description: 'It has lamps.',
      on: {
        'room.add': {
          actions: assign({
            lamps: ({ context, event, spawn }) => ({ ...context.lamps, [event.id]: spawn('lamp', { id: event.id }) }),
          }),
        },
        'xstate.error.actor.*': { actions: assign({ lamps: ({ context }) => context.lamps }) },
      },
    },
  },
});

export interface Watched {
  port: number;
  token: string;
  folder: string;
  log: string[];
  room: ActorRefFrom<typeof roomMachine>;
  lamp(id: string): ActorRefFrom<typeof lampMachine>;
  url(query?: string): string;
  close(): Promise<void>;
}

export const roomCharts = chartsOf({ room: roomMachine, lamp: lampMachine });

/** A small system of actors with an inspector. */
export async function watched(
  given: {
    write?: boolean;
    limits?: Partial<InspectorLimits>;
    folder?: string;
    port?: number;
    lamps?: number;
    /** What is shown of the first lamp's context, however long it is. */
    context?: (text: string) => unknown;
  } & Partial<Pick<InspectorOptions, 'host' | 'pages' | 'explain'>> = {},
): Promise<Watched> {
  const folder = given.folder ?? (await mkdtemp(join(tmpdir(), 'statelet-inspect-')));
  const log: string[] = [];
  const live = createLiveSystem({ now: Date.now });
  const room = createActor(roomMachine, { id: 'room', inspect: live.inspect }).start();
  for (let i = 0; i < (given.lamps ?? 1); i += 1) room.send({ type: 'room.add', id: `lamp${i}` });
  const lamp = (id: string) => {
    const found = room.getSnapshot().context.lamps[id];
    if (!found) throw new Error(`no ${id}`);
    return found;
  };
  const lamps = () => Object.values(room.getSnapshot().context.lamps).flatMap((one) => (one ? [one] : []));
  const { context } = given;
  const server = await startInspector({
    host: given.host ?? '127.0.0.1',
    port: given.port ?? 0,
    folder,
    live: context ? { ...live, context: () => context(lamp('lamp0').getSnapshot().context.text) } : live,
    charts: roomCharts,
    explain:
      given.explain ??
      (({ id, state }) => ({
        ...{ kind: 'node', name: id, found: true, headline: `${id} is ${state}` },
        ...{ trouble: false, places: [], waitsFor: [], next: [], whyNot: [], steps: [], similar: [] },
      })),
    node: 'testnode',
    version: '1.2.3',
    startedAt: 1,
    pages: given.pages ?? [],
    write: given.write
      ? {
          accepts: (id) => {
            const one = lamps().find(({ sessionId }) => sessionId === id);
            return one && getNextTransitions(one.getSnapshot()).map(({ eventType }) => eventType);
          },
          send: (id, event) =>
            lamps()
              .find(({ sessionId }) => sessionId === id)
              ?.send(event as LampEvent),
        }
      : undefined,
    log: (level, message) => log.push(`${level}: ${message}`),
    limits: given.limits,
  });
  const port = (await server.listening)?.port ?? 0;
  const told = await until('it tells its address', () => log.find((line) => line.includes('?token=')));
  const token = /token=([\w-]+)/.exec(told)?.[1] ?? '';
  return {
    port,
    token,
    folder,
    log,
    room,
    lamp,
    url: (query = '') => `ws://127.0.0.1:${port}/ws?token=${token}${query}`,
    close: async () => {
      room.stop();
      await server.close();
      if (!given.folder) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The address of the sockets of a running agent's inspector, by query; waits until it is told. */
export async function inspectorUrl(rootDir: string): Promise<(query: string) => string> {
  const page = await until('it tells its address', async () =>
    (await readFile(join(rootDir, 'statelet/inspect.url'), 'utf8')).trim(),
  );
  return (query) => `${page.replace('http', 'ws').replace('/?', '/ws?')}${query}`;
}

export type Message = { type: string } & Record<string, unknown>;

/** A client that keeps what it hears. */
export class Hearing {
  readonly heard: Message[] = [];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | undefined;
  /** Status where the socket was refused. */
  refused: number | undefined;

  constructor(url: string, options: ClientOptions = {}) {
    this.socket = new WebSocket(url, options);
    this.socket.on('message', (data) => this.heard.push(JSON.parse(String(data)) as Message));
    this.socket.on('close', (code, reason) => (this.closed = { code, reason: String(reason) }));
    this.socket.on('unexpected-response', (request, response) => {
      this.refused = response.statusCode;
      request.destroy();
    });
    this.socket.on('error', () => undefined);
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async opened(): Promise<this> {
    await until('the socket opens', () => this.socket.readyState === this.socket.OPEN);
    return this;
  }

  /** The next message of the type that fits, from the `from`th one on. */
  until(type: string, fits: (message: Message) => boolean = () => true, from = 0): Promise<Message> {
    return until(
      `${type} is heard`,
      () => this.heard.slice(from).find((message) => message.type === type && fits(message)),
      { patienceMs: 10_000, told: () => this.heard.map(({ type: heard }) => heard).join(' ') },
    );
  }

  /** How it ended: refused with a status, or closed with a code. */
  ended(): Promise<number> {
    return until('it ends', () => this.refused ?? this.closed?.code);
  }

  close(): void {
    this.socket.terminate();
  }
}
