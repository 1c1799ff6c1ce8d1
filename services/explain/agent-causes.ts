import type { DesiredPod } from '../../machines/kubernetes.types.ts';
import type { ManifestSet } from '../../machines/syncloop/policy/manifest-set.ts';
import type { LiveActor } from '../live/live.types.ts';
import { callsOf, meaningOf, statesOf, timerSuffix } from './actor.ts';
import { slowness, WEIGHTS, type Cause, type Scene } from './explain.types.ts';
import { about, agentOf } from './scene.ts';
import { clause, span } from './words.ts';

/** The states that hold pods or the node back, in words, of an actor that is in some. */
export function heldBy(scene: Scene, actor: LiveActor): string | undefined {
  const held = statesOf(scene, actor).filter(({ holdsBack }) => holdsBack);
  return held.length > 0 ? held.map(({ description }) => clause(description)).join('; ') : undefined;
}

/** What of the agent itself and of the runtime holds every pod up. @param needsNetwork it is not of the host network */
export function agentCauses(scene: Scene, needsNetwork: boolean): Cause[] {
  const agent = agentOf(scene);
  if (!agent) return [];
  const { actor, seen } = agent;
  const causes: Cause[] = [];
  const loop = heldBy(scene, actor);
  const health = scene.actors.find(({ machine }) => machine === 'runtimeHealth');
  const runtime = health && heldBy(scene, health);
  const says = seen.healthMessage ? ` (${seen.healthMessage})` : '';
  if (loop !== undefined) {
    const text = `the agent holds pods back: ${loop}${says}, for ${span(scene.now - actor.since)} now${timerSuffix(scene, actor)}`;
    causes.push({ weight: WEIGHTS.allHeld, text });
  } else if (runtime !== undefined && needsNetwork) {
    const suffix = timerSuffix(scene, health as LiveActor);
    causes.push({ weight: WEIGHTS.allHeld, text: `${runtime}${says}${suffix}` });
  }
  return causes;
}

/** What is wrong with the manifest of a pod that goes on all the same, or with another that wants its name. */
export function manifestCauses(scene: Scene, { namespace, name, uid }: DesiredPod['metadata']): Cause[] {
  const remark = (text: string): Cause => ({ weight: WEIGHTS.remark, text });
  const ofSources = scene.actors.filter(({ machine }) => machine === 'podSource');
  const spoilt = ofSources.flatMap(({ sessionId }) => {
    const { set } = scene.live.peek(sessionId) as { set: ManifestSet };
    const own = Object.values(set).filter(({ pods }) => pods.some(({ metadata }) => metadata.uid === uid));
    return own.flatMap(({ problems }) => problems);
  });
  const others = Object.values(agentOf(scene)?.seen.problems ?? {}).flatMap((all) => all ?? []);
  return [
    ...spoilt.map((problem) =>
      remark(`its manifest cannot be used as it is now, and its last good version stays in force: ${problem}`),
    ),
    ...others.filter(({ message }) => message.includes(`${name}_${namespace}`)).map(({ message }) => remark(message)),
  ];
}

/** What keeps the API server from knowing of the pod. */
export function writerCause(scene: Scene, { namespace, name }: { namespace: string; name: string }): Cause[] {
  return about(scene, 'podWriter', namespace, name).flatMap((writer): Cause[] => {
    const { failure, heard } = scene.live.peek(writer.sessionId) as { failure?: string; heard?: string };
    const [call] = callsOf(scene, writer);
    const suffix = timerSuffix(scene, writer);
    const weight = WEIGHTS.remark;
    if (failure !== undefined) return [{ weight, text: `the API server could not be told of it: ${failure}${suffix}` }];
    if (call && slowness(scene.now - call.began) === WEIGHTS.slow) {
      const means = clause(meaningOf(scene, writer));
      return [{ weight, text: `the API server has not answered for ${span(scene.now - call.began)}: ${means}` }];
    }
    if (heard === undefined)
      return [{ weight, text: 'the API server could not be told of it, because its pods were not read yet' }];
    return [];
  });
}

/** Something of the pod is being written to the API, or waits to be. */
export const isBeingWritten = (scene: Scene, { namespace, name }: { namespace: string; name: string }): boolean =>
  about(scene, 'podWriter', namespace, name).some(({ state }) => state !== 'waiting' && state !== 'over');
