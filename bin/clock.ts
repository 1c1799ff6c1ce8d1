/**
 * The agent's wall clock, ms since the epoch, that is never set back: an observation that began later always has the
 * later time. A jump ahead is followed, as when a node without a battery learns the time; after a jump back the agent
 * goes on in its own time (docs/adr/0009).
 */
export function agentClock(
  wall: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
): () => number {
  let offset = wall() - monotonic();
  return () => {
    const ahead = wall() - monotonic() - offset;
    if (ahead > JUMP_MS) offset += ahead;
    return monotonic() + offset;
  };
}

/** Less than this is drift, which the monotonic clock follows by itself. */
const JUMP_MS = 1000;
