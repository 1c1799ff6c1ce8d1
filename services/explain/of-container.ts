import type { LiveActor } from '../live/live.types.ts';
import { allNext, meaningOf, placeOf, waitsOf } from './actor.ts';
import { containerCause, containerName, isFine, logOf, seenContainer } from './container.ts';
import { isTrouble, WEIGHTS, type Explanation, type Scene, type Target } from './explain.types.ts';
import { containersOf, namesIn, podCauses } from './pod-causes.ts';
import { whoIs } from './pod.ts';
import { below, seenPod } from './scene.ts';
import { stepsOf } from './steps.ts';
import { clause, closeNames, listed, sentence } from './words.ts';

/** One container of a pod that has an actor. */
export function explainContainer(
  scene: Scene,
  pod: LiveActor,
  { namespace, name, container }: Extract<Target, { kind: 'container' }>,
): Explanation {
  const names = namesIn(scene, pod);
  const full = `${namespace}/${name}/${container}`;
  const base = { kind: 'container' as const, name: full, steps: stepsOf(scene, `container ${full}`), similar: [] };
  const actor = containersOf(scene, pod).find(({ about }) => about?.container === container);
  const causes = podCauses(scene, pod);
  const [root] = causes;
  if (!names.includes(container) && !actor)
    return {
      ...{ ...base, found: false, trouble: true, places: [], waitsFor: [], next: [], whyNot: [] },
      similar: closeNames(container, names).map((each) => `${namespace}/${name}/${each}`),
      headline: sentence(`pod ${namespace}/${name} has no container of the name ${container}; it has ${listed(names)}`),
    };
  if (!actor)
    return {
      ...{
        ...base,
        found: true,
        trouble: isTrouble(root),
        places: [placeOf(scene, pod, whoIs(scene, pod))],
        whyNot: [],
      },
      headline: sentence(`container ${container} does not run: ${root?.text ?? clause(meaningOf(scene, pod))}`),
      waitsFor: waitsOf(scene, pod, whoIs(scene, pod)),
      next: allNext(scene, [pod], (each) => whoIs(scene, each)),
    };
  const all = [actor, ...below(scene, actor)];
  const who = containerName(seenContainer(scene, actor));
  const own = containerCause(scene, actor);
  // Whatever it does itself: nothing can go on before the runtime is back.
  const held = root?.weight === WEIGHTS.allHeld ? root : undefined;
  // One that waits for its turn waits for whatever holds up the others.
  const cause =
    own && own.weight === WEIGHTS.remark && root && root.text !== own.text
      ? { text: `${own.text}; ${root.text}` }
      : own;
  const state = isFine(scene, actor) ? 'is as it is to be' : 'does not run as it is to';
  const headline = held
    ? `${who} ${state}: ${held.text}${own ? `; ${own.text}` : ''}`
    : cause
      ? cause.text
      : `${who} ${state}: ${clause(meaningOf(scene, actor))}`;
  return {
    ...{ ...base, found: true, headline: sentence(`${namespace}/${name}: ${headline}`) },
    trouble: isTrouble(held ?? own),
    places: all.map((each) => placeOf(scene, each, whoIs(scene, each))),
    waitsFor: [...logOf(scene, actor), ...all.flatMap((each) => waitsOf(scene, each, whoIs(scene, each)))],
    next: allNext(scene, all, (each) => whoIs(scene, each)),
    whyNot: own ? [sentence(own.text)] : [],
  };
}

/** A container of no pod, where what was asked for names a pod and leaves the container out. @param asked as it was understood */
export function explainShort(scene: Scene, pod: LiveActor, asked: string): Explanation {
  const { namespace, name } = seenPod(scene, pod).pod.metadata;
  const names = namesIn(scene, pod);
  const similar = names.map((each) => `${namespace}/${name}/${each}`);
  return {
    ...{ kind: 'container', name: asked, found: false, trouble: true, similar, steps: [] },
    ...{ places: [], waitsFor: [], next: [], whyNot: [] },
    headline: sentence(
      `a container is asked for as NAMESPACE/POD/CONTAINER; there is a pod ${namespace}/${name} with ` +
        `container${names.length > 1 ? 's' : ''} ${listed(names)}: statelet explain container ${similar[0]}`,
    ),
  };
}
