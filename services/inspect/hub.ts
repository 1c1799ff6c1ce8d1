import type { Chart } from '../charts/chart.types.ts';
import type { Explanation } from '../explain/explain.types.ts';
import type { LiveActor, LiveSystem, Transition } from '../live/live.types.ts';
import type { ServerLog } from '../server/server.types.ts';
import type { Client } from './client.ts';
import type { InspectorLimits, ServerMessage } from './inspect.types.ts';
import { XStateBridge } from './xstate-bridge.ts';

/** Shortest time between two messages about one actor, ms. */
const TICK_MS = 50;
/** CPU time after which a turn begins nothing more, ms: the charts run on the same thread. */
const TURN_MS = 4;
/** Longest pause after a turn, however long that one took. */
const PAUSE_MS = 2_000;
/** Transitions of one actor that are kept between two messages about it. */
const EARLIER = 50;
/** Actors with news; with more the clients are told everything anew instead. */
const CHANGES = 10_000;

/** News of one actor since it was last told of. */
interface Change {
  actor: LiveActor;
  transitions: Transition[];
  stopped: boolean;
}

export interface HubOptions {
  live: LiveSystem;
  charts: Readonly<Record<string, Chart>>;
  explain: (actor: LiveActor) => Explanation;
  hello: () => ServerMessage;
  limits: InspectorLimits;
  log: ServerLog;
}

/**
 * Tells all clients what the actors do. Without a client it hears nothing and makes nothing. With some, changes are
 * gathered by actor and told in turns that are short, with pauses between them in proportion.
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #bridge: XStateBridge;
  readonly #clients = new Set<Client>();
  readonly #changes = new Map<string, Change>();
  readonly #contexts = new Set<string>();
  #unsubscribe: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = TICK_MS;
  /** What a turn does, each in its part of the time; each turn begins with another. */
  readonly #jobs: ((late: () => boolean) => void)[] = [
    (late) => this.#eachClient((client) => this.#catchUp(client, late)),
    (late) => this.#tellChanges(late),
    (late) => this.#tellContexts(late),
    (late) => this.#eachClient((client) => this.#explain(client, late)),
  ];
  /** The message with the charts, which is the same for all. */
  #charts: string | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#bridge = new XStateBridge(options.live, options.charts, (sessionId) => this.#context(sessionId));
  }

  get size(): number {
    return this.#clients.size;
  }

  add(client: Client): void {
    this.#unsubscribe ??= this.#listen();
    this.#clients.add(client);
    const { charts, hello } = this.#options;
    if (client.wants.own)
      client.first.push(
        () => [JSON.stringify(hello())],
        () => [(this.#charts ??= JSON.stringify({ type: 'statelet.charts', charts } satisfies ServerMessage))],
        () => [this.#actors(client), this.#history()],
      );
    this.#soon();
  }

  remove(client: Client): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#changes.clear();
    this.#contexts.clear();
    this.#bridge.clear();
    this.#charts = undefined;
  }

  /** The client has said `xstate.inspecting`: every actor is registered with it, at its own pace. */
  inspecting(client: Client): void {
    client.inspecting = true;
    client.registered.clear();
    this.#registerAll(client);
    this.#soon();
  }

  /** False where the client watches too many already. */
  watch(client: Client, sessionId: string): boolean {
    if (client.watched.size >= this.#options.limits.watched && !client.watched.has(sessionId)) return false;
    client.watched.add(sessionId);
    this.#contexts.add(sessionId);
    this.#soon();
    return true;
  }

  /** The client asks why an actor is where it is; false where it asks for too many at once. */
  explain(client: Client, sessionId: string): boolean {
    if (client.toExplain.size >= this.#options.limits.watched && !client.toExplain.has(sessionId)) return false;
    client.toExplain.add(sessionId);
    this.#soon();
    return true;
  }

  close(): void {
    for (const client of [...this.#clients]) {
      client.end(1001, 'the agent stops');
      this.remove(client);
    }
    this.#bridge.clear();
  }

  #listen(): () => void {
    return this.#options.live.subscribe({
      changed: (actor, transition) => this.#note(actor, { transition }),
      stopped: (actor) => this.#note(actor, { stopped: true }),
    });
  }

  #note(actor: LiveActor, news: { stopped?: true; transition?: Transition }): void {
    const change = this.#changes.get(actor.sessionId);
    if (!change && this.#changes.size >= CHANGES) return this.#giveUp();
    const { transitions = [] } = change ?? {};
    if (news.transition) transitions.push(news.transition);
    if (transitions.length > EARLIER) transitions.shift();
    this.#changes.set(actor.sessionId, { actor, transitions, stopped: !!news.stopped });
    this.#soon();
  }

  /** More has happened than was told in time: all are told everything anew. */
  #giveUp(): void {
    for (const client of this.#clients) client.dropped += this.#changes.size;
    this.#changes.clear();
    this.#soon();
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.#turn(), this.#pauseMs).unref();
  }

  #turn(): void {
    this.#timer = undefined;
    const spent = stopwatch();
    for (const client of this.#clients) if (client.isStuck()) this.#end(client);
    // One that always has much to do, such as the registrations of a large agent, starves none of the others.
    this.#jobs.push(...this.#jobs.splice(0, 1));
    for (const job of this.#jobs) job(butOne(() => spent() > TURN_MS));
    const took = spent();
    this.#pauseMs = Math.min(PAUSE_MS, Math.max(TICK_MS, took / this.#options.limits.share - took));
    if (this.#changes.size || this.#contexts.size || [...this.#clients].some(isBehind)) this.#soon();
  }

  /** The first is another one each time. */
  #eachClient(work: (client: Client) => void): void {
    const [first] = this.#clients;
    if (!first) return;
    this.#clients.delete(first);
    this.#clients.add(first);
    for (const client of this.#clients) work(client);
  }

  #tellChanges(late: () => boolean): void {
    for (const [sessionId, change] of this.#changes) {
      if (late()) return;
      this.#changes.delete(sessionId);
      this.#tellChange(change);
    }
  }

  #tellContexts(late: () => boolean): void {
    for (const sessionId of this.#contexts) {
      if (late()) return;
      this.#contexts.delete(sessionId);
      this.#tellContext(sessionId);
    }
  }

  #end(client: Client): void {
    const { limits, log } = this.#options;
    log('warn', `inspector: a client has not read for ${limits.stuckMs / 1000} s and is ended`);
    client.end(1008, 'too slow');
    this.remove(client);
  }

  /** What a client gets at its own pace: the first messages, registrations, and everything anew after a lag. */
  #catchUp(client: Client, late: () => boolean): void {
    if (client.dropped > 0 && client.hasRoom) this.#afterLag(client);
    while (client.first.length > 0 && client.hasRoom && !late()) {
      const [make] = client.first;
      for (const text of make?.() ?? []) client.sendPaced(text);
      client.first.shift();
    }
    for (const sessionId of client.toRegister) {
      if (!client.hasRoom || late()) return;
      client.toRegister.delete(sessionId);
      const actor = this.#options.live.actor(sessionId);
      if (!actor) continue;
      client.registered.add(sessionId);
      this.#bridge.register(actor, (text) => client.sendPaced(text));
    }
  }

  #explain(client: Client, late: () => boolean): void {
    for (const sessionId of client.toExplain) {
      if (!client.hasRoom || late()) return;
      client.toExplain.delete(sessionId);
      const actor = this.#options.live.actor(sessionId);
      if (!actor) continue;
      client.sendPaced(JSON.stringify(this.#explanation(actor)));
    }
  }

  /** An actor that cannot be explained is a fault, but none for which the agent is to end. */
  #explanation(actor: LiveActor): ServerMessage {
    const { sessionId, machine, id } = actor;
    try {
      return { type: 'statelet.explanation', sessionId, explanation: this.#options.explain(actor) };
    } catch (error) {
      const message = `statelet.explain: ${machine} ${id} (${sessionId}): ${(error as Error).message}`;
      this.#options.log('error', `inspector: ${message}`);
      return { type: 'statelet.error', message };
    }
  }

  #afterLag(client: Client): void {
    const { live } = this.#options;
    const { dropped } = client;
    client.dropped = 0;
    client.follows = false;
    if (client.wants.own)
      client.first.push(() => [
        JSON.stringify({ type: 'statelet.lagged', dropped } satisfies ServerMessage),
        this.#actors(client),
      ]);
    for (const sessionId of client.watched) this.#contexts.add(sessionId);
    if (!client.inspecting) return;
    for (const sessionId of client.registered)
      if (!live.actor(sessionId)) client.sendPaced(JSON.stringify({ type: 'service.stop', sessionId }));
    client.registered.clear();
    this.#registerAll(client);
  }

  #registerAll(client: Client): void {
    for (const actor of this.#options.live.actors())
      if (this.#bridge.shows(actor)) client.toRegister.add(actor.sessionId);
  }

  /** The whole tree; from here on the client is told of changes. */
  #actors(client: Client): string {
    client.follows = true;
    return JSON.stringify({ type: 'statelet.actors', actors: this.#options.live.actors() } satisfies ServerMessage);
  }

  #history(): string {
    const transitions = this.#options.live.history();
    return JSON.stringify({ type: 'statelet.history', transitions } satisfies ServerMessage);
  }

  #tellChange(change: Change): void {
    const { actor, transitions, stopped } = change;
    this.#tellOwn(change);
    this.#tellXState(actor, transitions.at(-1)?.event ?? 'xstate.update', stopped);
  }

  #tellOwn({ actor, transitions, stopped }: Change): void {
    const { sessionId } = actor;
    const clients = [...this.#clients].filter((client) => client.follows);
    const tell = (message: ServerMessage) => {
      const text = JSON.stringify(message);
      for (const client of clients) client.send(text);
    };
    const transition = transitions.at(-1);
    const earlier = transitions.slice(0, -1);
    if (clients.length && (transition || !stopped))
      tell({
        type: 'statelet.actor',
        actor,
        ...(transition ? { transition } : {}),
        ...(earlier.length ? { earlier } : {}),
      });
    if (clients.length && stopped) tell({ type: 'statelet.stopped', sessionId });
    for (const client of this.#clients)
      if (stopped) client.watched.delete(sessionId);
      else if (client.watched.has(sessionId)) this.#contexts.add(sessionId);
  }

  #tellXState(actor: LiveActor, event: string, stopped: boolean): void {
    const { sessionId } = actor;
    const clients = [...this.#clients].filter((client) => client.registered.has(sessionId));
    const send = (text: string) => {
      for (const client of clients) client.send(text);
    };
    if (clients.length) this.#bridge.changed(actor, event, send);
    if (!stopped) {
      if (this.#bridge.shows(actor))
        for (const client of this.#clients)
          if (client.inspecting && !client.registered.has(sessionId)) client.toRegister.add(sessionId);
      return;
    }
    this.#bridge.stopped(sessionId, send);
    for (const client of this.#clients) {
      client.toRegister.delete(sessionId);
      // One that lags is told of the end when it has caught up.
      if (client.dropped === 0) client.registered.delete(sessionId);
    }
  }

  #tellContext(sessionId: string): void {
    const watching = [...this.#clients].filter((client) => client.watched.has(sessionId));
    if (!watching.length || !this.#options.live.actor(sessionId)) return;
    const message: ServerMessage = { type: 'statelet.context', sessionId, context: this.#context(sessionId) };
    const text = JSON.stringify(message);
    for (const client of watching) client.send(text);
  }

  /** The redacted context, where it is not too much to send. */
  #context(sessionId: string): unknown {
    const context = this.#options.live.context(sessionId);
    const { length } = JSON.stringify(context) ?? '';
    return length > this.#options.limits.contextChars ? `[${length} characters, too much to show]` : context;
  }
}

function isBehind(client: Client): boolean {
  return (
    client.dropped > 0 ||
    client.first.length > 0 ||
    client.toRegister.size > 0 ||
    client.toExplain.size > 0 ||
    !client.hasRoom
  );
}

/** Late as told, but never before a first piece of work. */
function butOne(late: () => boolean): () => boolean {
  let isFirst = true;
  return () => {
    const is = !isFirst && late();
    isFirst = false;
    return is;
  };
}

/** CPU time of this thread since now, ms: on a busy host the wall clock would count the time of others. */
function stopwatch(): () => number {
  const began = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(began);
    return (user + system) / 1000;
  };
}
