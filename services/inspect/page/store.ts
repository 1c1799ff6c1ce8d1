import { useEffect, useState } from 'preact/hooks';
import type { ClientMessage, ServerMessage } from '../inspect.types.ts';
import { emptyModel, take, type Model } from './model.ts';
import { connect } from './socket.ts';

/** The page's one view of the agent. However many messages come, it is drawn once a frame. */
export interface Store {
  readonly model: Model;
  send(message: ClientMessage): void;
  subscribe(listener: () => void): () => void;
}

export function openStore(): Store {
  const model = emptyModel();
  const listeners = new Set<() => void>();
  let drawn = true;
  const changed = () => {
    if (!drawn) return;
    drawn = false;
    requestAnimationFrame(() => {
      drawn = true;
      for (const listener of listeners) listener();
    });
  };
  const send = connect({
    opened() {
      model.connection = 'open';
      changed();
    },
    away() {
      if (model.connection === 'open') model.connection = 'away';
      changed();
    },
    message(message: ServerMessage) {
      take(model, message, Date.now());
      changed();
    },
  });
  return {
    model,
    send,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Draws the component anew with every change of the model. */
export function useModel(store: Store): Model {
  const [, setVersion] = useState(0);
  useEffect(() => store.subscribe(() => setVersion((version) => version + 1)), [store]);
  return store.model;
}

/** Draws the component anew as time goes by; how often it has. */
export function useTick(everyMs: number): number {
  const [count, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return count;
}

/** The hash of the page's address. */
export function useHash(): string {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = () => setHash(location.hash);
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  return hash;
}
