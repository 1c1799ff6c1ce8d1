import type { Readable } from 'node:stream';

/** One HTTP request as both protocols take it. */
export interface HttpRequest {
  method: string;
  /** With its query, as it goes on the wire. */
  path: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body?: string;
  /** Open for long: it must not take the place of calls. */
  streaming: boolean;
  /** Ends the request wherever it is; what it rejects with is the signal's reason. */
  signal: AbortSignal;
}

export interface HttpResponse {
  status: number;
  retryAfter?: string;
  /** Fails when the signal fires. Has to be read or destroyed. */
  body: Readable;
  /** Asked at its end: whether the server ended it. A lost connection may look like an end. */
  complete(): boolean;
}

/** Connections to one server in one protocol. */
export interface Transport {
  /** False once new requests need another: the connection was lost or is about to be closed, or its credentials are old. */
  readonly usable: boolean;
  /** Nothing is under way on it any more, and nothing will be. */
  readonly over: boolean;
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Takes no new request; those that are under way go on. */
  retire(): void;
  /** Cuts all that is under way. */
  destroy(): void;
}
