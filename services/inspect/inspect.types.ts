import type { Chart } from '../charts/chart.types.ts';
import type { Explanation } from '../explain/explain.types.ts';
import type { LiveActor, LiveSystem, Transition } from '../live/live.types.ts';
import type { ServerLog } from '../server/server.types.ts';

/** What the inspector shows, where, and to whom. */
export interface InspectorOptions {
  /** A loopback address. */
  host: string;
  /** 0: any free one. */
  port: number;
  /** Folder for inspect.token and inspect.url: `<root-dir>/statelet`. */
  folder: string;
  live: LiveSystem;
  /** By page name. */
  charts: Readonly<Record<string, Chart>>;
  /** Why an actor, or what it is a part of, is where it is. */
  explain(actor: LiveActor): Explanation;
  node: string;
  version: string;
  /** ms since the epoch. */
  startedAt: number;
  /** Where the built page may be; the first folder with an index.html is served. */
  pages: readonly string[];
  /** Given where clients may send events to actors. */
  write?: WriteAccess;
  log: ServerLog;
  limits?: Partial<InspectorLimits>;
}

/** How events of a client reach an actor. */
export interface WriteAccess {
  /** Event types that the actor takes in its present state; undefined where there is no such actor. */
  accepts(sessionId: string): readonly string[] | undefined;
  send(sessionId: string, event: { type: string }): void;
}

/** Bounds that keep clients from harming the agent; smaller ones are for tests. */
export interface InspectorLimits {
  clients: number;
  /** Unsent bytes of a client, beyond which it is skipped. */
  bufferedBytes: number;
  /** How long a client may be skipped before it is ended, ms. */
  stuckMs: number;
  /** Messages of a client in a second. */
  messagesPerSecond: number;
  /** Actors whose context one client may watch. */
  watched: number;
  /** Characters of a context as JSON, beyond which it is not sent. */
  contextChars: number;
  /** Part of the thread's CPU time that showing may take, 0 to 1. */
  share: number;
}

/** What a client may ask. */
export type ClientMessage =
  | { type: 'xstate.inspecting' }
  | { type: 'xstate.event'; service: string; event: { type: string } & Record<string, unknown> }
  | { type: 'statelet.watch' | 'statelet.unwatch' | 'statelet.explain'; sessionId: string };

/** Messages of our own, beside those of @xstate/inspect. */
export type ServerMessage =
  | { type: 'statelet.hello'; version: string; node: string; startedAt: number; writable: boolean }
  | { type: 'statelet.charts'; charts: Readonly<Record<string, Chart>> }
  | { type: 'statelet.actors'; actors: readonly LiveActor[] }
  /** `earlier`: transitions since the last message about this actor, oldest first, without `transition`. */
  | { type: 'statelet.actor'; actor: LiveActor; transition?: Transition; earlier?: readonly Transition[] }
  | { type: 'statelet.stopped'; sessionId: string }
  | { type: 'statelet.history'; transitions: readonly Transition[] }
  | { type: 'statelet.context'; sessionId: string; context: unknown }
  | { type: 'statelet.explanation'; sessionId: string; explanation: Explanation }
  /** How many messages were not sent to this client. */
  | { type: 'statelet.lagged'; dropped: number }
  | { type: 'statelet.error'; message: string };
