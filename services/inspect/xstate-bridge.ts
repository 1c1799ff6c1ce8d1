import { inspect } from '@xstate/inspect/lib/server.js';
import type { Chart } from '../charts/chart.types.ts';
import type { LiveActor, LiveSystem } from '../live/live.types.ts';
import { xstate4Config, type XState4Config } from './xstate4-config.ts';

type Heard = (client: { on(event: 'message', heard: (data: string, isBinary: boolean) => void): void }) => void;

/** What @xstate/inspect's server asks of a ws server and of a service, and nothing else of them. */
interface ServerFacade {
  clients: ReadonlySet<{ readyState: number; OPEN: number; send(text: string): void }>;
  on(event: 'connection' | 'close', heard: Heard): void;
  close(): void;
}

interface ServiceFacade {
  id: string;
  sessionId: string;
  machine: { definition: XState4Config; toJSON(): unknown };
  state: XState4State;
  initialState: XState4State;
  send(event: { type: string }): void;
  subscribe(next: (state: XState4State) => void): void;
  onStop(stopped: () => void): void;
}

/** A state that XState 4's State.create takes. */
interface XState4State {
  value: unknown;
  context: unknown;
  event: { type: string };
  _event: { name: string; data: { type: string }; $$type: 'scxml'; type: 'external' };
  _sessionid: string;
  configuration: never[];
  transitions: never[];
  children: Record<string, never>;
  tags: readonly string[];
  done: boolean;
  changed: true;
}

interface DevTools {
  services: Iterable<ServiceFacade> & { forEach(each: (service: ServiceFacade) => void): void };
  register(service: ServiceFacade): void;
  onRegister(heard: (service: ServiceFacade) => void): { unsubscribe(): void };
}

/** @xstate/inspect's server of this process. It keeps what it was given for ever, so there is one. */
interface Package {
  devTools: DevTools;
  /** Takes a message as from a client. */
  hear(data: string, isBinary: boolean): void;
  /** Where its messages go; it writes them while it is called. */
  send(text: string): void;
}

let thePackage: Package | undefined;

function startPackage(): Package {
  const started: Package = { devTools: undefined as never, hear: () => undefined, send: () => undefined };
  const server: ServerFacade = {
    clients: new Set([{ readyState: 1, OPEN: 1, send: (text) => started.send(text) }]),
    on: (event, heard) => {
      if (event === 'connection') heard({ on: (_, hear) => (started.hear = hear) });
    },
    close: () => undefined,
  };
  Object.defineProperty(globalThis, '__xstate__', {
    configurable: true,
    get: () => started.devTools,
    set: (made: DevTools) => {
      // The first to ask would keep every service for ever, to send it events: here they go another way.
      let asked = 0;
      const onRegister: DevTools['onRegister'] = (heard) =>
        (asked += 1) === 1 ? { unsubscribe: () => undefined } : made.onRegister(heard);
      started.devTools = { ...made, onRegister };
    },
  });
  inspect({ server: server as never });
  delete (globalThis as { __xstate__?: unknown }).__xstate__;
  return started;
}

/**
 * The live actors as services of XState 4, given to @xstate/inspect's own server, which writes its messages about them. It
 * sees one client, behind which the caller sorts messages to the real ones, and no message of theirs.
 */
export class XStateBridge {
  readonly #live: LiveSystem;
  readonly #definitions: ReadonlyMap<string, XState4Config>;
  readonly #context: (sessionId: string) => unknown;
  readonly #services = new Map<string, ServiceFacade & { tell(actor: LiveActor, event: string): void; stop(): void }>();
  readonly #package = (thePackage ??= startPackage());

  /** @param context the redacted context of an actor */
  constructor(live: LiveSystem, charts: Readonly<Record<string, Chart>>, context: (sessionId: string) => unknown) {
    this.#live = live;
    this.#context = context;
    this.#definitions = new Map(Object.values(charts).map((chart) => [chart.machine, xstate4Config(chart)]));
  }

  /** One without a chart is no service. */
  shows({ machine }: LiveActor): boolean {
    return this.#definitions.has(machine);
  }

  /** Writes `service.register` of one actor, in its present state. */
  register(actor: LiveActor, send: (text: string) => void): void {
    const known = this.#services.get(actor.sessionId) ?? this.#serve(actor);
    if (!known) return;
    // The package registers all services with a client that begins; here one at a time, at the client's own pace.
    this.#package.devTools.services = [known];
    this.#writing(send, () => this.#package.hear('{"type":"xstate.inspecting"}', false));
  }

  /** Writes `service.event` and `service.state`. */
  changed(actor: LiveActor, event: string, send: (text: string) => void): void {
    const service = this.#services.get(actor.sessionId);
    if (service) this.#writing(send, () => service.tell(actor, event));
  }

  /** Writes `service.stop`. */
  stopped(sessionId: string, send: (text: string) => void): void {
    const service = this.#services.get(sessionId);
    this.#services.delete(sessionId);
    if (service) this.#writing(send, () => service.stop());
  }

  /** Forgets all services: nobody listens. */
  clear(): void {
    for (const sessionId of [...this.#services.keys()]) this.stopped(sessionId, () => undefined);
  }

  #writing(send: (text: string) => void, work: () => void): void {
    this.#package.send = send;
    try {
      work();
    } finally {
      this.#package.send = () => undefined;
    }
  }

  #serve(actor: LiveActor) {
    const definition = this.#definitions.get(actor.machine);
    if (!definition) return undefined;
    const observers: ((state: XState4State) => void)[] = [];
    const onStop: (() => void)[] = [];
    const live = this.#live;
    let last = { actor, event: 'xstate.init' };
    // Its registering is a message that nobody gets.
    let silent = true;
    const state = () => {
      const now = live.actor(actor.sessionId) ?? last.actor;
      return xstate4State(now, last.event, silent ? undefined : this.#context(actor.sessionId));
    };
    const service = {
      id: actor.id,
      sessionId: actor.sessionId,
      machine: { definition, toJSON: () => ({}) },
      get state() {
        return state();
      },
      get initialState() {
        return state();
      },
      // The package puts a send of its own in its place, which writes `service.event` first.
      send: (_event: { type: string }) => undefined,
      subscribe: (next: (state: XState4State) => void) => void observers.push(next),
      onStop: (stopped: () => void) => void onStop.push(stopped),
      tell: (changed: LiveActor, event: string) => {
        last = { actor: changed, event };
        service.send({ type: event });
        const text = state();
        for (const next of observers) next(text);
      },
      stop: () => onStop.forEach((stopped) => stopped()),
    };
    this.#services.set(actor.sessionId, service);
    this.#package.devTools.register(service);
    silent = false;
    return service;
  }
}

function xstate4State(actor: LiveActor, event: string, context: unknown): XState4State {
  return {
    value: actor.value,
    context,
    event: { type: event },
    _event: { name: event, data: { type: event }, $$type: 'scxml', type: 'external' },
    _sessionid: actor.sessionId,
    configuration: [],
    transitions: [],
    children: {},
    tags: actor.tags,
    done: actor.status === 'done',
    changed: true,
  };
}
