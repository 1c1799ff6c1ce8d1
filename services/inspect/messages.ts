import type { ClientMessage } from './inspect.types.ts';

const ACCEPTED = 'xstate.inspecting, xstate.event, statelet.watch, statelet.unwatch, statelet.explain';
/** `x:12` */
const SESSION = /^[\w:.-]{1,64}$/;

/** What a client sent, checked; or the reason why it is not taken. Nothing of it goes on unread. */
export function readMessage(text: string): ClientMessage | { problem: string } {
  const message = parsed(text);
  if (!message) return { problem: 'the message is no JSON object' };
  const { type } = message;
  switch (type) {
    case 'xstate.inspecting':
      return { type };
    case 'statelet.watch':
    case 'statelet.unwatch':
    case 'statelet.explain': {
      const { sessionId } = message;
      return isSession(sessionId)
        ? { type, sessionId }
        : { problem: `${type}: sessionId: accepted is one such as "x:12"` };
    }
    case 'xstate.event':
      return readEvent(message);
    default:
      return { problem: `type: accepted are ${ACCEPTED}` };
  }
}

/**
 * An event for an actor. @xstate/inspect's receivers send it as JSON text, which may be XState 4's form
 * `{ name, data: { type }, origin }`, with the actor in `service` or in `origin`.
 */
function readEvent(message: Record<string, unknown>): ClientMessage | { problem: string } {
  const { event: given } = message;
  const outer = typeof given === 'string' ? parsed(given) : isObject(given) ? given : undefined;
  if (!outer) return { problem: 'xstate.event: event: accepted is an object with a type, or its JSON text' };
  const inner = isObject(outer['data']) && typeof outer['name'] === 'string' ? outer['data'] : outer;
  const { type } = inner;
  if (typeof type !== 'string' || !type) return { problem: 'xstate.event: event.type: accepted is a text' };
  const service = message['service'] ?? outer['origin'];
  if (!isSession(service)) return { problem: 'xstate.event: service: accepted is a sessionId such as "x:12"' };
  return { type: 'xstate.event', service, event: { ...inner, type } };
}

function isSession(value: unknown): value is string {
  return typeof value === 'string' && SESSION.test(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON object; undefined where the text is none. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error as Error).name === 'SyntaxError') return undefined;
    throw error;
  }
}
