/** The one error shape that effects reject with; a service maps foreign errors to it once. */
export interface AgentErrorFields {
  /** The effect or call that failed, in the field's words: `CreateContainer`, `mount volume "data"`. */
  op: string;
  /** A short word for machines and logs: a gRPC status (`NOT_FOUND`, `DEADLINE_EXCEEDED`) or a Kubernetes reason. */
  reason: string;
  /** What went wrong, for people; names the object, never carries a secret. */
  message: string;
  /** True where trying the same call again later can succeed with nothing else changed. */
  transient: boolean;
  /** How long the other side asks to be left alone, ms (Retry-After). */
  retryAfterMs?: number;
  cause?: unknown;
}

export class AgentError extends Error implements AgentErrorFields {
  readonly op: string;
  readonly reason: string;
  readonly transient: boolean;
  readonly retryAfterMs?: number;

  constructor(fields: AgentErrorFields) {
    super(fields.message, { cause: fields.cause });
    this.name = 'AgentError';
    this.op = fields.op;
    this.reason = fields.reason;
    this.transient = fields.transient;
    this.retryAfterMs = fields.retryAfterMs;
  }

  /** Any thrown value as an AgentError; one that already is stays as it is. */
  static from(error: unknown, op: string): AgentError {
    if (error instanceof AgentError) return error;
    // By its shape: an error from another realm is no instance of this one's Error.
    const { message = String(error) } = (error ?? {}) as { message?: string };
    return new AgentError({ op, reason: 'Unexpected', message, transient: false, cause: error });
  }
}
