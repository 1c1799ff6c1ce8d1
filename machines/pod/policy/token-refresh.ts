/** A token that was had from the API server. Its age is counted by whoever keeps it, not by the clock that it names. */
export interface TokenLife {
  /** Seconds from its issue to its end. */
  expirationSeconds: number;
  /** Age now, ms; below 0 where the clock was set back since, or had been ahead. */
  ageMs: number;
}

/** No token is kept for longer, ms (token/token_manager.go:maxTTL). */
const LONGEST_MS = 24 * 3_600_000;
/** So that not all tokens of a cluster are renewed together, ms (token/token_manager.go:maxJitter). */
const JITTER_MS = 10_000;

/**
 * Ms until a token is due to be renewed: at 80 % of its life or a day after its issue; 0 at once, as for one that seems to
 * be of the future (B167).
 *
 * @param random uniform in [0, 1)
 */
export function tokenRefreshIn({ expirationSeconds, ageMs }: TokenLife, random: number): number {
  if (ageMs < 0) return 0;
  const due = Math.min(LONGEST_MS, expirationSeconds * 800) - random * JITTER_MS;
  return Math.max(0, due - ageMs);
}

/** Whether the token may still be used. */
export function tokenIsValid({ expirationSeconds, ageMs }: TokenLife): boolean {
  return ageMs < expirationSeconds * 1000;
}
