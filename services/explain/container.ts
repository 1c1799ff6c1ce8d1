import type { ContainerPlan } from '../../machines/pod/container.types.ts';
import { HOLD_WORDS, STOP_WORDS } from '../../machines/pod/policy/plan-words.ts';
import type { Retry } from '../../machines/pod/policy/decide-container.ts';
import type { ObservedContainer } from '../../machines/runtime.types.ts';
import { exitCause } from '../live/cause-exit.ts';
import type { LiveActor } from '../live/live.types.ts';
import { callsOf, callWords, meaningOf, timerSuffix } from './actor.ts';
import { slowness, WEIGHTS, type Cause, type Scene, type Wait } from './explain.types.ts';
import { childrenOf } from './scene.ts';
import { probeCause } from './probes.ts';
import { clause, sentence, span } from './words.ts';

/** What is read of a container's context. */
export interface SeenContainer {
  plan: ContainerPlan;
  container: { name: string; image?: string };
  kind: 'init' | 'sidecar' | 'regular';
  instances: readonly ObservedContainer[];
  waiting?: { reason: string; message: string };
  stop?: { id: string; gracePeriodSeconds: number; settled: boolean };
  stopRetry?: Retry;
}

export const seenContainer = ({ live }: Scene, { sessionId }: LiveActor) => live.peek(sessionId) as SeenContainer;

/** `init container setup`, `sidecar proxy`, `container app` */
export function containerName({ kind, container }: Pick<SeenContainer, 'kind' | 'container'>): string {
  return `${{ init: 'init container', sidecar: 'sidecar', regular: 'container' }[kind]} ${container.name}`;
}

/** What is to run does, and no probe holds anything against it; or it is through with all it was to do; an init container is fine when it has ended. */
export function isFine(scene: Scene, actor: LiveActor): boolean {
  const { plan, kind } = seenContainer(scene, actor);
  return plan.do === 'run' && kind !== 'init'
    ? actor.tags.includes('ready') && probeCause(scene, actor, '') === undefined
    : plan.do === 'hold' && plan.reason === 'completed';
}

/** What holds a container up; undefined where nothing does. */
export function containerCause(scene: Scene, actor: LiveActor): Cause | undefined {
  const seen = seenContainer(scene, actor);
  const who = containerName(seen);
  return (
    stopCause(scene, actor, seen, who) ??
    waitingCause(scene, actor, seen, who) ??
    (actor.tags.includes('ready') ? probeCause(scene, actor, who) : undefined) ??
    callCause(scene, actor, seen, who)
  );
}

/** It is being stopped: how long it has, or why it could not be stopped. */
function stopCause(
  scene: Scene,
  actor: LiveActor,
  { plan, stop, stopRetry }: SeenContainer,
  who: string,
): Cause | undefined {
  if (stopRetry?.message !== undefined)
    return {
      weight: WEIGHTS.failed,
      text: `${who} could not be stopped: ${stopRetry.message}${timerSuffix(scene, actor)}`,
    };
  const [call] = callsOf(scene, actor);
  const isStopping = stop && !stop.settled && call;
  if (!isStopping) return undefined;
  const left = call.began + stop.gracePeriodSeconds * 1000 - scene.now;
  const why = plan.do === 'stop' ? `, because ${STOP_WORDS[plan.reason]}` : '';
  const asked = `${who} was asked to stop ${span(scene.now - call.began)} ago${why}`;
  const grace = `its grace of ${stop.gracePeriodSeconds} s`;
  return left > 0
    ? {
        weight: slowness(scene.now - call.began),
        text: `${asked}, and has not ended yet; ${grace} is over in ${span(left)}, and then it is killed`,
      }
    : {
        weight: WEIGHTS.slow,
        text: `${asked}; ${grace} has been over for ${span(-left)}, and the runtime has not said that it is gone`,
      };
}

/** It waits for a reason that users know: a crash, its image, its configuration. */
function waitingCause(scene: Scene, actor: LiveActor, seen: SeenContainer, who: string): Cause | undefined {
  const { waiting, instances } = seen;
  if (!waiting) return undefined;
  const child = childrenOf(scene, actor).find(({ machine }) => machine === 'imagePull');
  const [newest] = instances;
  const end = !child && newest?.state === 'exited' ? `${exitWords(scene, newest)}; ` : '';
  const shown = `${who} waits with ${waiting.reason} (${waiting.message})`;
  return { weight: WEIGHTS.failed, text: `${end}${shown}${timerSuffix(scene, child ?? actor)}` };
}

/** Where to read what a container wrote that ended and waits to run again: why it ended only its program knows. */
export function logOf(scene: Scene, actor: LiveActor): Wait[] {
  const { waiting, instances, ...seen } = seenContainer(scene, actor);
  const [newest] = instances;
  if (!waiting || newest?.state !== 'exited' || newest.startedAt === undefined || !newest.logPath) return [];
  const who = containerName(seen);
  const text = sentence(`what ${who} wrote before it ended is in ${newest.logPath}`);
  return [{ who, for: 'reason', what: 'log', text }];
}

/** `container app ended with code 1 3 s ago, as its 4th instance` */
export function exitWords(scene: Scene, instance: ObservedContainer): string {
  const ago = instance.finishedAt === undefined ? '' : ` ${span(scene.now - instance.finishedAt)} ago`;
  const times =
    instance.restartCount > 0 ? `, after ${instance.restartCount} restart${instance.restartCount > 1 ? 's' : ''}` : '';
  return `${exitCause(instance).detail ?? ''}${ago}${times}`;
}

/** What its state means, where it is on its way or waits for its turn. */
function callCause(
  scene: Scene,
  actor: LiveActor,
  { plan, kind, instances }: SeenContainer,
  who: string,
): Cause | undefined {
  const child = childrenOf(scene, actor).find(({ machine }) => machine === 'imagePull');
  const doer = child ?? actor;
  const [call] = callsOf(scene, doer);
  const [newest] = instances;
  const end = plan.do === 'run' && newest?.state === 'exited' ? `${exitWords(scene, newest)}; ` : '';
  if (call) return { weight: slowness(scene.now - call.began), text: `${end}${who}: ${callWords(scene, doer, call)}` };
  if (isFine(scene, actor)) return undefined;
  if (plan.do === 'hold') return { weight: WEIGHTS.remark, text: `${who} does not run: ${HOLD_WORDS[plan.reason]}` };
  if (kind === 'init' && actor.tags.includes('ready')) {
    const text = `${who} has run for ${span(scene.now - actor.since)} and has not ended yet; what comes after it waits for that`;
    return { weight: WEIGHTS.progress, text };
  }
  const means = clause(meaningOf(scene, doer));
  return { weight: WEIGHTS.progress, text: `${end}${who}: ${means}${timerSuffix(scene, doer)}` };
}
