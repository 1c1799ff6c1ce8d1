import type { Transition } from './live.types.ts';

export interface History {
  /** An actor of this lasting name has begun; several may have one name, when one follows the other. */
  began(actor: string): void;
  ended(actor: string): void;
  add(transition: Transition): void;
  /** Newest last; of one actor, or of all in the order in which it happened. */
  of(actor?: string): readonly Transition[];
}

interface Kept {
  /** Actors of this name that are there now. */
  living: number;
  /** With their numbers in the order in which they happened: times may be equal. */
  steps: { number: number; transition: Transition }[];
}

/**
 * The last transitions of each actor, by its lasting name. Bounded twice: so many of each, and of so many actors; the one
 * that ended first is forgotten first, and of those that live the one that began first.
 */
export function createHistory({
  transitions: most,
  actors,
  kept = [],
}: {
  transitions: number;
  actors: number;
  kept?: readonly Transition[];
}): History {
  const living = new Map<string, Kept>();
  // In the order in which they ended.
  const gone = new Map<string, Kept>();
  let count = 0;

  const bound = () => {
    while (living.size + gone.size > actors) {
      const [first] = gone.size > 0 ? gone.keys() : living.keys();
      if (!gone.delete(first ?? '')) living.delete(first ?? '');
    }
  };
  const history: History = {
    began(actor) {
      const known = living.get(actor) ?? gone.get(actor) ?? { living: 0, steps: [] };
      known.living += 1;
      gone.delete(actor);
      living.set(actor, known);
      bound();
    },
    ended(actor) {
      const known = living.get(actor);
      if (!known) return;
      known.living -= 1;
      if (known.living > 0) return;
      living.delete(actor);
      gone.set(actor, known);
    },
    add(transition) {
      const { steps } = living.get(transition.actor) ?? gone.get(transition.actor) ?? {};
      if (!steps) return;
      count += 1;
      steps.push({ number: count, transition });
      if (steps.length > most) steps.shift();
    },
    of(actor) {
      const known = actor === undefined ? undefined : (living.get(actor) ?? gone.get(actor));
      const found = actor === undefined ? [...gone.values(), ...living.values()] : known ? [known] : [];
      const steps = found.flatMap((kept) => kept.steps);
      return steps.sort((a, b) => a.number - b.number).map(({ transition }) => transition);
    },
  };
  for (const transition of kept) {
    const { actor } = transition;
    history.began(actor);
    // Whoever did something last is forgotten last. Sessions are of one process only.
    history.add({ ...transition, sessionId: '' });
    history.ended(actor);
  }
  return history;
}
