import type { Transition } from './live.types.ts';

export interface History {
  /** An actor of this lasting name has begun; several may have one name, when one follows the other. */
  began(actor: string): void;
  ended(actor: string): void;
  add(transition: Transition): void;
  /** The actor has done the very same a moment ago, as what looks again and again does. */
  knows(transition: Transition): boolean;
  /** Takes what an earlier process has kept, oldest first. */
  recall(kept: readonly Transition[]): void;
  /**
   * In the order in which it happened, newest last: of one actor by its lasting name, of a pod (`pod default/web`) all that
   * is about it, of `node` all that is about no pod; without a name the newest of all.
   */
  of(about?: string): readonly Transition[];
}

interface Kept {
  /** Actors of this name that are there now. */
  living: number;
  /** Number of the step that was the newest of all when it began. */
  began: number;
  /** With their numbers in the order in which they happened: times may be equal. */
  steps: { number: number; transition: Transition }[];
}

/** So many are told at most where none are named. */
const NEWEST = 2_000;

/**
 * The last transitions of each actor, by its lasting name. Bounded twice: so many of each, and of so many actors; the one
 * that ended first is forgotten first, and of those that live the one that has done nothing for the longest time.
 */
export function createHistory({ transitions: most, actors }: { transitions: number; actors: number }): History {
  const living = new Map<string, Kept>();
  // In the order in which they ended.
  const gone = new Map<string, Kept>();
  let count = 0;

  const bound = () => {
    while (living.size + gone.size > actors) {
      const [first] = gone.keys();
      if (first !== undefined) gone.delete(first);
      else living.delete(idlest(living));
    }
  };
  const history: History = {
    began(actor) {
      const known = living.get(actor) ?? gone.get(actor) ?? { living: 0, began: count, steps: [] };
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
    knows(transition) {
      const { steps = [] } = living.get(transition.actor) ?? {};
      return steps.some((step) => isSame(step.transition, transition));
    },
    recall(kept) {
      for (const transition of kept) {
        const { actor } = transition;
        history.began(actor);
        // Sessions are of one process only.
        history.add({ ...transition, sessionId: '' });
        history.ended(actor);
      }
    },
    of(about) {
      const steps = [...gone, ...living].flatMap(([name, kept]) =>
        about === undefined || isOf(about, name) ? kept.steps : [],
      );
      const sorted = steps.sort((a, b) => a.number - b.number).map(({ transition }) => transition);
      return about === undefined ? sorted.slice(-NEWEST) : sorted;
    },
  };
  return history;
}

const isSame = (a: Transition, b: Transition) => a.to === b.to && a.from === b.from && a.event === b.event;

function idlest(living: ReadonlyMap<string, Kept>): string {
  const last = ({ steps, began }: Kept) => steps.at(-1)?.number ?? began;
  return [...living].reduce((least, next) => (last(next[1]) < last(least[1]) ? next : least))[0];
}

/** Whether the actor of this lasting name belongs to what is asked about. */
function isOf(about: string, name: string): boolean {
  if (about === 'node') return !name.includes('/');
  const [, pod] = /^pod (.+)$/.exec(about) ?? [];
  const of = name.slice(name.indexOf(' ') + 1);
  return name === about || (pod !== undefined && (of === pod || of.startsWith(`${pod}/`)));
}
