import { AgentError } from '../../machines/agent-error.types.ts';
import type { LiveListener } from './live.types.ts';

type Call = (listener: LiveListener) => void;

/** Those who hear of the actors: when what acts now has come to rest, and never so that an actor feels it. */
export function createListeners(tell: (message: string) => void) {
  const listeners = new Set<LiveListener>();
  let news: Call[] = [];
  const flush = () => {
    const calls = news;
    news = [];
    for (const listener of listeners) {
      try {
        for (const call of calls) call(listener);
      } catch (error) {
        listeners.delete(listener);
        const { message } = AgentError.from(error, 'listener');
        tell(`a listener of the live view failed and hears no more: ${message}`);
      }
    }
  };
  return {
    none: () => listeners.size === 0,
    add(listener: LiveListener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    notify(call: Call) {
      if (news.length === 0) queueMicrotask(flush);
      news.push(call);
    },
  };
}
