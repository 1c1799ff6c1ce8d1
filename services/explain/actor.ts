import type { ChartWords } from '../../machines/chart-words.types.ts';
import type { Chart, Edge, State } from '../charts/chart.types.ts';
import type { LiveActor, LiveEffect, LiveTimer } from '../live/live.types.ts';
import { slowness, WEIGHTS, type Next, type Place, type Scene, type Wait } from './explain.types.ts';
import { clause, sentence, span } from './words.ts';

/** A timer that no node lives to see stands for none, ms. */
const NEVER = 365 * 24 * 3_600_000;

const NOTHING: Chart = {
  ...{ name: '', machine: '', description: '', states: [], edges: [], children: [], watches: [], delays: {} },
};
const chartFor = ({ charts }: Scene, { machine }: LiveActor) => charts[machine] ?? NOTHING;

/** The states that an actor is in, innermost ones only; of a chart without parallel states it is one. */
export function statesOf(scene: Scene, actor: LiveActor): State[] {
  const { states } = chartFor(scene, actor);
  return actor.state.split(', ').flatMap((path) => states.find((state) => state.path === path) ?? []);
}

/** What it means to be there, as its chart says. */
export const meaningOf = (scene: Scene, actor: LiveActor) =>
  statesOf(scene, actor)
    .map(({ description }) => description)
    .join(' ');

export const placeOf = (scene: Scene, actor: LiveActor, who: string): Place => ({
  who,
  state: actor.state,
  meaning: meaningOf(scene, actor),
  since: actor.since,
});

/** Calls under way; a watch is none, as it is not meant to end. */
export const callsOf = (scene: Scene, actor: LiveActor): readonly LiveEffect[] =>
  actor.effects.filter(({ src }) => !chartFor(scene, actor).watches.includes(src));

/** Timers that will run out, the next one first. */
export const timersOf = ({ now }: Scene, { timers }: LiveActor): readonly LiveTimer[] =>
  timers.filter(({ startedAt, ms }) => startedAt + ms - now < NEVER);

const endOf = ({ startedAt, ms }: LiveTimer) => startedAt + ms;

/** `the crash back-off is over in 37 s` */
export function timerWords(scene: Scene, actor: LiveActor, timer: LiveTimer): string {
  const words = chartFor(scene, actor).words?.delays[timer.delay] ?? timer.delay;
  return `${words} is over in ${span(endOf(timer) - scene.now)}`;
}

/** `the runtime creates an instance in the sandbox of the pod; this call (createContainer) has been under way for 8 s` */
export function callWords(scene: Scene, actor: LiveActor, { src, began }: LiveEffect): string {
  const doing = statesOf(scene, actor).find(({ invokes }) => invokes.includes(src));
  const age = scene.now - began;
  const late = slowness(age) === WEIGHTS.slow ? ', and is not answered' : '';
  return `${clause(doing?.description ?? src)}; this call (${src}) has been under way for ${span(age)}${late}`;
}

/** `; the crash back-off is over in 37 s`, of the timer that runs longest: it leads on. Empty where none runs. */
export function timerSuffix(scene: Scene, actor: LiveActor): string {
  const timer = timersOf(scene, actor).at(-1);
  return timer ? `; ${timerWords(scene, actor, timer)}` : '';
}

/** All that an actor waits for by its chart: calls, timers, and guards that do not hold. */
export function waitsOf(scene: Scene, actor: LiveActor, who: string): Wait[] {
  const { words } = chartFor(scene, actor);
  const states = statesOf(scene, actor);
  const calls = callsOf(scene, actor).map((call): Wait => ({
    ...{ who, for: 'call', what: call.src, since: call.began },
    text: sentence(`${who}: ${callWords(scene, actor, call)}`),
  }));
  const timers = timersOf(scene, actor).map((timer): Wait => ({
    ...{ who, for: 'timer', what: timer.delay, since: timer.startedAt, endsAt: endOf(timer) },
    text: sentence(`${who}: ${timerWords(scene, actor, timer)}`),
  }));
  const conditions = states
    .flatMap(({ awaits = [] }) => awaits)
    .flatMap((what): Wait[] => {
      const guard = words?.guards[what];
      if (guard === undefined)
        return [{ who, for: 'event', what, text: sentence(`${who} waits until ${words?.events[what] ?? what}`) }];
      if (scene.live.holds(actor.sessionId, what) === true) return [];
      return [{ who, for: 'condition', what, text: sentence(`${who} waits until ${guard}, which is not so yet`) }];
    });
  return [...calls, ...timers, ...conditions];
}

/**
 * The edges that lead on from where it is, in words: those of its call, its timers and what it waits for; `others` are those
 * that any news may open.
 */
function nextOf(scene: Scene, actor: LiveActor, who: string): { own: Next[]; others: Next[] } {
  const chart = chartFor(scene, actor);
  const here = statesOf(scene, actor);
  const awaits = here.flatMap((state) => state.awaits ?? []);
  const result: { own: Next[]; others: Next[] } = { own: [], others: [] };
  for (const edge of chart.edges) {
    const target = chart.states.find(({ path }) => path === edge.to);
    if (
      !target ||
      edge.event.startsWith('xstate.done.state.') ||
      !here.some(({ path }) => path === edge.from || path.startsWith(`${edge.from}.`))
    )
      continue;
    const when = whenOf(scene, actor, edge);
    if (when === undefined) continue;
    const isOwn = !['always', 'on'].includes(edge.kind) || awaits.includes(edge.guard ?? edge.what);
    result[isOwn ? 'own' : 'others'].push({ who, when, then: target.description });
  }
  return result;
}

/** What follows of several actors; what any news may open is told only where nothing else leads on. */
export function allNext(scene: Scene, actors: readonly LiveActor[], who: (actor: LiveActor) => string): Next[] {
  const each = actors.map((actor) => nextOf(scene, actor, who(actor)));
  const own = each.flatMap((next) => next.own);
  return own.length > 0 ? own : each.flatMap((next) => next.others);
}

/** A guard in words: one by its name, with or without what it is told, or several combined: `and(isStale, wasMounted)`. */
function guardWords(words: ChartWords | undefined, guard: string): string {
  const [, name = guard, inner = ''] = /^(\w+)\((.*)\)$/.exec(guard) ?? [];
  const each = () => inner.split(', ').map((one) => guardWords(words, one));
  if (name === 'and' || name === 'or') return each().join(` ${name} `);
  return name === 'not' ? `it is not so that ${each().join('')}` : (words?.guards[name] ?? guard);
}

/** When an edge is taken; undefined where its timer does not run, and of the end of a watch, which nobody waits for. */
function whenOf(scene: Scene, actor: LiveActor, { kind, what, guard }: Edge): string | undefined {
  const { words, watches } = chartFor(scene, actor);
  const only = guard === undefined ? '' : ` and ${guardWords(words, guard)}`;
  if (watches.includes(what)) return undefined;
  switch (kind) {
    case 'after': {
      const timer = timersOf(scene, actor).find(({ delay }) => delay === what);
      return timer && timerWords(scene, actor, timer).replace(/is over (in .*)$/, 'is over ($1)') + only;
    }
    case 'always':
      return guard === undefined ? undefined : guardWords(words, guard);
    case 'done':
      return `that succeeds${only}`;
    case 'error':
      return `that fails${only}`;
    default:
      return (words?.events[what] ?? what) + only;
  }
}
