import type { Chart } from '../../charts/chart.types.ts';
import type { LiveActor, LiveEffect, LiveTimer } from '../../live/live.types.ts';

/** What the colour of an actor says. */
export type Mood = 'failing' | 'stuck' | 'busy' | 'waiting' | 'good' | 'over';

/** A call that takes longer is said to be stuck, ms; a pull may well take its time. */
const LONG_CALL_MS = 30_000;
const LONG_PULL_MS = 300_000;
/** A pod or container that waits longer for something without a timer is said to be stuck, ms. */
const LONG_WAIT_MS = 60_000;

/** Words by which states say that something went wrong. */
const TROUBLE =
  /backoff|waitingToRetry|waitingTo(List|Stop|Inspect|Prove|Release|Report|Remove)|^Err|Error$|^Invalid|unhealthy|notReady|waitingForRuntime|^paused$/i;
/** Where pods and containers may stay for as long as they like. */
const REST = /(^|\.)(running|completed|exited|active|finished|gone|present|done)$/;

/** Paths of the states that a machine is in: `check.waiting, verdict.healthy`. */
export const pathsOf = (state: string) => state.split(', ').filter(Boolean);
const lastOf = (path: string) => path.split('.').at(-1) ?? '';

/** Effects that are to end; watches are not. */
export const callsOf = (chart: Chart | undefined, { effects }: LiveActor) =>
  effects.filter(({ src }) => !chart?.watches.includes(src));

/** Some timers are set for a time that never comes. */
export const isNear = ({ ms }: LiveTimer) => ms < 365 * 86_400_000;

/** Of an actor and all that is below it, what deserves a look most. */
export const worst = (moods: readonly Mood[]): Mood | undefined =>
  (['failing', 'stuck'] as const).find((m) => moods.includes(m));

export function moodOf(actor: LiveActor, chart: Chart | undefined, now: number): Mood {
  const { status, state, timers, since, machine, tags } = actor;
  if (status === 'error') return 'failing';
  if (status !== 'active') return 'over';
  const paths = pathsOf(state);
  // Through the next try too: it was not made good by being tried.
  if (actor.failing || paths.some((path) => TROUBLE.test(lastOf(path)) || isFailure(chart, path))) return 'failing';
  const calls = callsOf(chart, actor);
  if (calls.some((call) => isLate(call, now))) return 'stuck';
  // What writes a status rests for as long as nothing changes.
  const ofPod = machine === 'pod' || machine === 'container';
  const rests = paths.some((path) => REST.test(path));
  // In a state with an effect it waits for that one's machine, which is judged by itself.
  const waitsForChild =
    chart?.states.some((s) => paths.includes(s.path) && s.invokes.length > 0) ||
    paths.some((path) => lastOf(path) === 'stoppingContainers');
  if (ofPod && !rests && !waitsForChild && !timers.some(isNear) && now - since > LONG_WAIT_MS) return 'stuck';
  if (calls.length) return 'busy';
  if (tags.includes('ready') || (ofPod && rests) || !ofPod)
    return /completed|exited|finished|gone/.test(state) ? 'over' : 'good';
  return 'waiting';
}

function isLate({ src, began, killAt = began }: LiveEffect, now: number): boolean {
  return now - Math.max(began, killAt) > (/pull/i.test(src) ? LONG_PULL_MS : LONG_CALL_MS);
}

const failures = new WeakMap<Chart, ReadonlySet<string>>();

/** A state into which only failures lead. */
function isFailure(chart: Chart | undefined, path: string): boolean {
  if (!chart) return false;
  const known = failures.get(chart) ?? failuresOf(chart);
  failures.set(chart, known);
  return known.has(path);
}

function failuresOf({ states, edges }: Chart): ReadonlySet<string> {
  const waits = states.filter(({ invokes, kind }) => !invokes.length && kind !== 'final');
  const onlyErrors = waits.filter(({ path }) => {
    const into = edges.filter(({ to, from }) => to === path && from !== path);
    return into.length > 0 && into.every(({ kind }) => kind === 'error');
  });
  return new Set(onlyErrors.map(({ path }) => path));
}
