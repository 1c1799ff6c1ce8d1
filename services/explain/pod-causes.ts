import type { LiveActor } from '../live/live.types.ts';
import { callsOf, callWords, meaningOf, statesOf, timersOf, timerSuffix, timerWords, waitsOf } from './actor.ts';
import { agentCauses, manifestCauses, writerCause } from './agent-causes.ts';
import { containerCause, isFine, seenContainer } from './container.ts';
import { slowness, WEIGHTS, type Cause, type Scene } from './explain.types.ts';
import { childrenOf, seenPod } from './scene.ts';
import { clause, span } from './words.ts';
import { allContainers } from '../../machines/pod/policy/all-containers.ts';

/** All that holds a pod up, the root cause first. */
export function podCauses(scene: Scene, actor: LiveActor): Cause[] {
  const { pod } = seenPod(scene, actor);
  const isSettled = actor.tags.includes('released') || isRunning(scene, actor);
  const agent = agentCauses(scene, pod.spec.hostNetwork !== true).map((cause) =>
    isSettled ? { ...cause, weight: WEIGHTS.remark } : cause,
  );
  const causes = [
    ...agent,
    ...ownCause(scene, actor),
    ...volumeCauses(scene, actor),
    ...containersOf(scene, actor).flatMap((child) => containerCause(scene, child) ?? []),
    ...writerCause(scene, pod.metadata),
    ...manifestCauses(scene, pod.metadata),
  ];
  return causes.sort((a, b) => b.weight - a.weight);
}

/** The containers that a pod is made of, in the order of its spec: init containers first. */
export function namesIn(scene: Scene, pod: LiveActor): string[] {
  const { spec } = seenPod(scene, pod).pod;
  return allContainers(spec).map(({ name }) => name);
}

/** In the order of the spec. */
export function containersOf(scene: Scene, actor: LiveActor): readonly LiveActor[] {
  const order = namesIn(scene, actor);
  const place = ({ about }: LiveActor) => order.indexOf(about?.container ?? '');
  return childrenOf(scene, actor)
    .filter(({ machine }) => machine === 'container')
    .sort((a, b) => place(a) - place(b));
}

/** Everything that is to run does, and nothing is under way. */
export function isRunning(scene: Scene, actor: LiveActor): boolean {
  const all = containersOf(scene, actor);
  return actor.tags.includes('mayRunContainers') && all.length > 0 && all.every((child) => isFine(scene, child));
}

/** What the pod itself does or waits for. */
function ownCause(scene: Scene, actor: LiveActor): Cause[] {
  const { failures, failure, predecessorUid, pod } = seenPod(scene, actor);
  const [call] = callsOf(scene, actor);
  const retry = timersOf(scene, actor).find(({ state }) => statesOf(scene, actor).some(({ path }) => path === state));
  const suffix = retry ? `; ${timerWords(scene, actor, retry)}` : '';
  if (failures > 0 && failure !== undefined && (call || retry)) {
    const again =
      call && !retry ? `; it is tried again now (${call.src}, for ${span(scene.now - call.began)})` : suffix;
    return [{ weight: WEIGHTS.failed, text: `${failure}${again}` }];
  }
  if (call) {
    return [{ weight: slowness(scene.now - call.began), text: callWords(scene, actor, call) }];
  }
  if (predecessorUid !== undefined && waitsOf(scene, actor, '').length > 0) {
    const other = scene.actors.find(({ machine, about }) => machine === 'pod' && about?.uid === predecessorUid);
    const [why] = other ? podCauses(scene, other) : [];
    const means = other ? `: ${clause(meaningOf(scene, other))}${why ? `; ${why.text}` : ''}` : '';
    return [
      {
        weight: WEIGHTS.failed,
        text: `another pod of the name ${pod.metadata.namespace}/${pod.metadata.name} (UID ${predecessorUid}) has not ended yet${means}`,
      },
    ];
  }
  return [];
}

function volumeCauses(scene: Scene, actor: LiveActor): Cause[] {
  const volumes = childrenOf(scene, actor).filter(({ machine }) => machine === 'volume');
  return volumes.flatMap((child): Cause[] => {
    const { failure, mounted } = scene.live.peek(child.sessionId) as { failure?: string; mounted: boolean };
    const who = `volume ${child.about?.name ?? child.id}`;
    const [call] = callsOf(scene, child);
    const suffix = timerSuffix(scene, child);
    const weight = mounted ? WEIGHTS.remark : WEIGHTS.failed;
    if (failure !== undefined)
      return [
        { weight, text: `${who} could not be ${mounted ? 'brought up to date' : 'mounted'}: ${failure}${suffix}` },
      ];
    if (mounted || !call) return [];
    return [{ weight: slowness(scene.now - call.began), text: `${who}: ${callWords(scene, child, call)}` }];
  });
}

/** Containers of whose instances one runs or may run, and so hold up the end of the pod. */
export const running = (scene: Scene, actor: LiveActor): readonly string[] =>
  containersOf(scene, actor)
    .filter(({ tags }) => tags.includes('mayRun'))
    .map((child) => seenContainer(scene, child).container.name);
