import { AgentError } from '../../machines/agent-error.types.ts';
import type { DesiredPod } from '../../machines/kubernetes.types.ts';
import { tokenIsValid, tokenRefreshIn } from '../../machines/pod/policy/token-refresh.ts';
import type { Kube } from './client.ts';
import type { KeptByPod } from './kept-by-pod.ts';
import { createToken } from './verbs/create-token.ts';

/** API default of a projected token's expirationSeconds. */
const DEFAULT_SECONDS = 3600;
/** Wait after a renewal that failed while the old token can still be used, ms; up to twice as long by chance (B166). */
const RETRY_MS = 30_000;

export interface ProjectedToken {
  audience?: string;
  expirationSeconds?: number;
}

/** A token as it is kept; its age is counted from when it was received here, whatever the API server's clock. */
export interface KeptToken {
  token: string;
  expirationSeconds: number;
  /** Wall clock, ms: for an agent that is started later. */
  receivedAt: number;
}

export interface Tokens {
  /**
   * A token of the pod's service account, and when it is due again, ms. One that cannot be renewed is given on as long as it
   * is valid.
   *
   * @throws AgentError of the API where there is none to give on
   */
  get(
    pod: DesiredPod,
    projection: ProjectedToken,
    signal: AbortSignal,
  ): Promise<{ token: string; refreshAfterMs: number }>;
  sweep(keep: ReadonlySet<string>): Promise<void>;
}

export interface TokensOptions {
  kube: Kube;
  kept: KeptByPod<KeptToken>;
  /** Wall clock and the process's own time, ms; uniform in [0, 1). */
  env: { now(): number; elapsed(): number; random(): number };
  logger: { warn(fields: object, message: string): void };
}

interface Held extends KeptToken {
  pod: string;
  /** In the process's own time, which a clock that is set does not change (B167). */
  heldAt: number;
}

/** Tokens of projected volumes, renewed at 80 % of their life or after a day (token/token_manager.go:GetServiceAccountToken). */
export function serviceAccountTokens({ kube, kept, env, logger }: TokensOptions): Tokens {
  const held = new Map<string, Held>();

  const recall = async (id: string, pod: string): Promise<Held | undefined> => {
    const known = held.get(id);
    if (known) return known;
    const copy = await kept.read(id).catch((error: unknown) => {
      logger.warn({ pod, problem: AgentError.from(error, 'read token').message }, 'a kept token cannot be read');
      return undefined;
    });
    if (!copy) return undefined;
    const found = { ...copy, pod, heldAt: env.elapsed() - (env.now() - copy.receivedAt) };
    held.set(id, found);
    return found;
  };
  const keep = async (id: string, { pod, token, expirationSeconds, receivedAt }: Held) => {
    try {
      await kept.write(id, { token, expirationSeconds, receivedAt }, [pod]);
    } catch (error) {
      const { message } = AgentError.from(error, 'keep token');
      logger.warn({ pod, problem: message }, 'a token could not be kept for times without an API server');
    }
  };

  return {
    async get({ metadata: { namespace, name, uid }, spec }, projection, signal) {
      const serviceAccountName = spec.serviceAccountName || 'default';
      const { audience = '', expirationSeconds = DEFAULT_SECONDS } = projection;
      const id = JSON.stringify([uid, serviceAccountName, audience, expirationSeconds]);
      const old = await recall(id, uid);
      const life = old && { expirationSeconds: old.expirationSeconds, ageMs: env.elapsed() - old.heldAt };
      const dueIn = life && tokenRefreshIn(life, env.random());
      if (old && dueIn) return { token: old.token, refreshAfterMs: dueIn };
      const asked = { namespace, serviceAccountName, audience, expirationSeconds, pod: { name, uid } };
      try {
        const heldAt = env.elapsed();
        const fresh = await createToken(kube, asked, signal);
        const next = { ...fresh, pod: uid, heldAt, receivedAt: env.now() };
        held.set(id, next);
        await keep(id, next);
        const nextLife = { expirationSeconds: fresh.expirationSeconds, ageMs: 0 };
        return { token: fresh.token, refreshAfterMs: tokenRefreshIn(nextLife, env.random()) };
      } catch (error) {
        const { message, reason, transient } = AgentError.from(error, 'create token');
        const why = `failed to fetch token: ${message}`;
        if (!old || !life || !tokenIsValid(life) || signal.aborted)
          throw new AgentError({ op: 'create token', reason, message: why, transient, cause: error });
        logger.warn({ pod: uid, serviceAccountName, problem: message }, 'a token could not be renewed yet');
        return { token: old.token, refreshAfterMs: RETRY_MS * (1 + env.random()) };
      }
    },

    async sweep(keep) {
      for (const [id, { pod }] of held) if (!keep.has(pod)) held.delete(id);
      await kept.sweep(keep);
    },
  };
}
