import type { Chart } from '../../charts/chart.types.ts';
import type { LiveActor } from '../../live/live.types.ts';

/** What the colour of an actor says. */
export type Mood = 'failing' | 'stuck' | 'busy' | 'waiting' | 'good' | 'over';

/** An effect that takes longer is said to be stuck, ms. */
const LONG_EFFECT_MS = 30_000;
/** A pod or container that waits longer for something without a timer is said to be stuck, ms. */
const LONG_WAIT_MS = 60_000;

/** Words by which states say that something went wrong. */
const TROUBLE =
  /backoff|waitingToRetry|waitingTo(Stop|Inspect|Prove|Release|Report|Remove)|^Err|Error$|^Invalid|unhealthy|notReady|waitingForRuntime|^paused$/i;
/** Where pods and containers may stay for as long as they like. */
const REST = /(^|\.)(running|completed|exited|active|finished|gone|present|done)$/;

/** Paths of the states that a machine is in: `check.waiting, verdict.healthy`. */
export const pathsOf = (state: string) => state.split(', ').filter(Boolean);
const lastOf = (path: string) => path.split('.').at(-1) ?? '';

const watches = new WeakMap<Chart, ReadonlySet<string>>();

/** Effects that run for as long as their state does and are not meant to end: those of the whole machine, and watches. */
function watchesOf(chart: Chart | undefined): ReadonlySet<string> {
  if (!chart) return new Set();
  const known = watches.get(chart);
  if (known) return known;
  const found = new Set(chart.states.filter((s) => s.path === '').flatMap((s) => s.invokes));
  watches.set(chart, found);
  return found;
}

export const isWatch = (chart: Chart | undefined, src: string) => /^watch/.test(src) || watchesOf(chart).has(src);

export function moodOf(actor: LiveActor, chart: Chart | undefined, now: number): Mood {
  const { status, state, effects, timers, since, about, tags } = actor;
  if (status === 'error') return 'failing';
  if (status !== 'active') return 'over';
  const paths = pathsOf(state);
  if (paths.some((path) => TROUBLE.test(lastOf(path)) || isFailure(chart, path))) return 'failing';
  const calls = effects.filter(({ src }) => !isWatch(chart, src));
  if (calls.some(({ began }) => now - began > LONG_EFFECT_MS)) return 'stuck';
  const ofPod = about?.kind === 'pod' || about?.kind === 'container';
  const rests = paths.some((path) => REST.test(path));
  if (ofPod && !rests && !calls.length && !timers.length && now - since > LONG_WAIT_MS) return 'stuck';
  if (calls.length) return 'busy';
  if (tags.includes('ready') || (ofPod && rests) || !ofPod)
    return /completed|exited|finished|gone/.test(state) ? 'over' : 'good';
  return 'waiting';
}

/** A state into which only failures lead. */
function isFailure(chart: Chart | undefined, path: string): boolean {
  const into = chart?.edges.filter((edge) => edge.to === path && edge.from !== path) ?? [];
  const state = chart?.states.find((s) => s.path === path);
  return (
    into.length > 0 && into.every(({ kind }) => kind === 'error') && !state?.invokes.length && state?.kind !== 'final'
  );
}
