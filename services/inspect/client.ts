import type { WebSocket } from 'ws';
import type { InspectorLimits } from './inspect.types.ts';

/** Unsent bytes up to which more of what is not urgent is written: what is on its way is never much. */
const PACE_BYTES = 256 * 1024;

/** What a client wants: messages of our own, and @xstate/inspect's once it has asked for them. */
export interface Wants {
  own: boolean;
  xstate: boolean;
}

/**
 * One open page or receiver. Nothing that it does or leaves undone costs more than `bufferedBytes` and one message: what
 * would come on top of that is dropped and counted.
 */
export class Client {
  readonly wants: Wants;
  /** It has said `xstate.inspecting`. */
  inspecting = false;
  /** Sessions whose context it watches. */
  readonly watched = new Set<string>();
  /** Sessions that it has asked to be told why they are where they are. */
  readonly toExplain = new Set<string>();
  /** Sessions that @xstate/inspect has registered with it. */
  readonly registered = new Set<string>();
  /** Sessions still to be registered, in order. */
  readonly toRegister = new Set<string>();
  /** The first messages, made and sent as soon as there is room for them. */
  readonly first: (() => readonly string[])[] = [];
  /** It has been told of all actors and is told of their changes. */
  follows = false;
  /** Messages dropped since it last kept up. */
  dropped = 0;
  readonly #socket: WebSocket;
  readonly #limits: InspectorLimits;
  readonly #elapsed: () => number;
  #keptUpAt: number;
  #second = { began: 0, messages: 0 };

  constructor(socket: WebSocket, wants: Wants, limits: InspectorLimits, elapsed: () => number) {
    this.#socket = socket;
    this.wants = wants;
    this.#limits = limits;
    this.#elapsed = elapsed;
    this.#keptUpAt = elapsed();
  }

  /** Little enough is on its way that more may follow. */
  get hasRoom(): boolean {
    return this.#socket.bufferedAmount < Math.min(PACE_BYTES, this.#limits.bufferedBytes);
  }

  /** Sends a live message, or drops it where too much is unsent already. */
  send(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.dropped > 0 || this.#socket.bufferedAmount > this.#limits.bufferedBytes) this.dropped += 1;
    else this.#socket.send(text, ignoreBroken);
  }

  /** One of the messages that are paced: it goes out however long it is, since there was room before it. */
  sendPaced(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(text, ignoreBroken);
  }

  /** True once it has not kept up for too long. */
  isStuck(): boolean {
    if (this.hasRoom) this.#keptUpAt = this.#elapsed();
    return this.#elapsed() - this.#keptUpAt > this.#limits.stuckMs;
  }

  /** Counts a message of the client; false where it sends too many. */
  mayAsk(): boolean {
    const now = this.#elapsed();
    if (now - this.#second.began >= 1000) this.#second = { began: now, messages: 0 };
    this.#second.messages += 1;
    return this.#second.messages <= this.#limits.messagesPerSecond;
  }

  end(code: number, reason: string): void {
    if (this.hasRoom) this.#socket.close(code, reason);
    else this.#socket.terminate();
  }
}

/** A socket that broke closes by itself, and its `close` is heard. */
function ignoreBroken(): void {}
