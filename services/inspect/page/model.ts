import type { Chart } from '../../charts/chart.types.ts';
import type { Explanation } from '../../explain/explain.types.ts';
import type { LiveActor, Transition } from '../../live/live.types.ts';
import type { ServerMessage } from '../inspect.types.ts';

/** Transitions that the page keeps; the agent keeps its own number of them. */
const KEPT = 5_000;
/** A clock that differs by less is taken to be the same, ms: messages take their time. */
const SAME_CLOCK_MS = 1_500;

export type Connection = 'connecting' | 'open' | 'away';

/** What the page knows of the agent, by its messages. */
export interface Model {
  connection: Connection;
  /** It was there and went away, and then another one answered: when, ms since the epoch. */
  cameBackAt?: number;
  /** Agent of the last hello. */
  version: string;
  node: string;
  startedAt: number;
  /** Clients may send events to its actors. */
  isWritable: boolean;
  /** By machine id. */
  charts: ReadonlyMap<string, Chart>;
  /** By session, parents before their children. */
  actors: Map<string, LiveActor>;
  /** Sessions by parent. */
  children: Map<string, string[]>;
  /** Oldest first. */
  transitions: Transition[];
  contexts: Map<string, unknown>;
  /** Why an actor is where it is, by session: of the last time it was asked. */
  explanations: Map<string, Explanation>;
  /** How far this browser's clock is ahead of the agent's, ms. */
  skew: number;
  /** What the server last said of this page itself, and when, ms since the epoch. */
  notice?: { text: string; at: number };
}

export function emptyModel(): Model {
  return {
    connection: 'connecting',
    version: '',
    node: '',
    startedAt: 0,
    isWritable: false,
    charts: new Map(),
    actors: new Map(),
    children: new Map(),
    transitions: [],
    contexts: new Map(),
    explanations: new Map(),
    skew: 0,
  };
}

/** Takes one message in. */
export function take(model: Model, message: ServerMessage, now: number): void {
  switch (message.type) {
    case 'statelet.hello':
      if (model.startedAt && message.startedAt !== model.startedAt) model.cameBackAt = now;
      Object.assign(model, { version: message.version, node: message.node, startedAt: message.startedAt });
      model.isWritable = message.writable;
      model.contexts.clear();
      model.explanations.clear();
      model.notice = undefined;
      return;
    case 'statelet.charts':
      model.charts = new Map(Object.values(message.charts).map((chart) => [chart.machine, chart]));
      return;
    case 'statelet.actors':
      model.actors = new Map(message.actors.map((actor) => [actor.sessionId, actor]));
      model.children = new Map();
      for (const actor of model.actors.values()) join(model, actor);
      return;
    case 'statelet.history':
      model.transitions = message.transitions.slice(-KEPT);
      return;
    case 'statelet.actor': {
      const { actor, transition, earlier = [] } = message;
      if (!model.actors.has(actor.sessionId)) join(model, actor);
      model.actors.set(actor.sessionId, actor);
      for (const one of transition ? [...earlier, transition] : earlier) model.transitions.push(one);
      if (model.transitions.length > KEPT * 1.2) model.transitions = model.transitions.slice(-KEPT);
      if (transition) measure(model, now - transition.at);
      return;
    }
    case 'statelet.stopped':
      leave(model, message.sessionId);
      return;
    case 'statelet.context':
      model.contexts.set(message.sessionId, message.context);
      return;
    case 'statelet.explanation':
      model.explanations.set(message.sessionId, message.explanation);
      return;
    case 'statelet.lagged':
      model.notice = { text: `this page was too slow: ${message.dropped} messages were skipped`, at: now };
      return;
    case 'statelet.error':
      // An actor may end while it is asked for.
      if (!message.message.endsWith('there is no such actor')) model.notice = { text: message.message, at: now };
  }
}

function join({ children }: Model, { sessionId, parent = '' }: LiveActor): void {
  const siblings = children.get(parent);
  if (siblings) siblings.push(sessionId);
  else children.set(parent, [sessionId]);
}

function leave({ actors, children, contexts, explanations }: Model, sessionId: string): void {
  const parent = actors.get(sessionId)?.parent ?? '';
  const siblings = children.get(parent)?.filter((id) => id !== sessionId);
  if (siblings?.length) children.set(parent, siblings);
  else children.delete(parent);
  actors.delete(sessionId);
  contexts.delete(sessionId);
  explanations.delete(sessionId);
}

/** The clocks of an agent behind a tunnel and of this browser may differ; ages are told by the agent's. */
function measure(model: Model, ahead: number): void {
  if (Math.abs(ahead - model.skew) > SAME_CLOCK_MS) model.skew = ahead;
}

/** The agent's time. */
export const agentNow = (model: Model) => Date.now() - model.skew;
