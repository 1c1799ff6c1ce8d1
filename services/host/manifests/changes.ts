/** Quiet time after which what was written in place, or is gone, counts as done. */
const QUIET_MS = 50;
/** A file that is written all the time is read at least this often. */
const LONGEST_MS = 1_000;

export interface ChangesInput {
  /** Names that the last reading has seen; kept up to date here. */
  known: Set<string>;
  /** The name as it is now, after every event that was due before the look; undefined where it is gone. */
  look(name: string): Promise<{ complete: boolean } | undefined>;
  changed(): void;
}

/**
 * Makes one `changed` of the events of one save (B097). A whole file that appears under its name (renamed or linked in)
 * is told at once. What is written in place is told when it has been quiet for a moment, or it would be read half. So is
 * a file that goes away: editors move the old one aside before they put the new one there, which is no removal.
 */
export function startChanges({ known, look, changed }: ChangesInput) {
  /** Names with something to tell that is still moving. */
  const moving = new Set<string>();
  /** Names seen since the last telling that the reader does not know yet. */
  const fresh = new Set<string>();
  const writes = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;
  let stopped = false;

  const tell = () => {
    clearTimeout(timer);
    since = undefined;
    moving.clear();
    writes.clear();
    for (const name of fresh) known.add(name);
    fresh.clear();
    changed();
  };
  const later = (name: string) => {
    moving.add(name);
    const now = performance.now();
    since ??= now;
    clearTimeout(timer);
    timer = setTimeout(tell, Math.max(0, Math.min(QUIET_MS, since + LONGEST_MS - now)));
  };

  const appeared = async (name: string) => {
    const before = writes.get(name);
    const found = await look(name);
    if (stopped) return;
    if (!found) {
      // A temporary file that no reading ever saw leaves nothing to tell.
      if (fresh.delete(name)) moving.delete(name);
      if (known.delete(name)) later(name);
      return;
    }
    if (!known.has(name)) fresh.add(name);
    moving.delete(name);
    if (!found.complete || writes.get(name) !== before) later(name);
    else if (moving.size === 0) tell();
    else later(name);
  };

  return {
    /** @param kind `rename`: the name appeared, was replaced or went away; `change`: it was written to */
    event(kind: 'rename' | 'change', name: string): void {
      if (kind === 'rename') {
        appeared(name).catch(() => stopped || later(name));
        return;
      }
      writes.set(name, (writes.get(name) ?? 0) + 1);
      later(name);
    },
    stop(): void {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
