import type { LiveActor } from '../live/live.types.ts';
import { isOf } from '../live/history.ts';
import { allNext, meaningOf, placeOf, timersOf, timerWords, waitsOf } from './actor.ts';
import { containerName, isFine, seenContainer } from './container.ts';
import { WEIGHTS, type Cause, type Explanation, type Scene, type Step } from './explain.types.ts';
import { containersOf, isRunning, podCauses, running } from './pod-causes.ts';
import { about, below, seenPod } from './scene.ts';
import { clause, listed, sentence } from './words.ts';

const MOST_STEPS = 12;

/** A pod that has an actor. */
export function explainPod(scene: Scene, actor: LiveActor): Explanation {
  const { pod } = seenPod(scene, actor);
  const { namespace, name } = pod.metadata;
  const all = [actor, ...below(scene, actor), ...about(scene, 'podWriter', namespace, name)];
  const causes = podCauses(scene, actor);
  return {
    kind: 'pod',
    name: `${namespace}/${name}`,
    found: true,
    headline: headlineOf(scene, actor, causes),
    places: all.map((each) => placeOf(scene, each, whoIs(scene, each))),
    waitsFor: [
      ...causes.map(({ text }) => ({
        who: `pod ${namespace}/${name}`,
        for: 'reason' as const,
        what: '',
        text: sentence(text),
      })),
      ...all.flatMap((each) => waitsOf(scene, each, whoIs(scene, each))),
    ],
    next: allNext(scene, all, (each) => whoIs(scene, each)),
    whyNot: whyNot(scene, actor),
    steps: stepsOf(scene, `pod ${namespace}/${name}`),
    similar: [],
  };
}

/** What an actor is called in sentences. */
export function whoIs(scene: Scene, actor: LiveActor): string {
  const { machine, about: what, parent } = actor;
  const above = scene.actors.find(({ sessionId }) => sessionId === parent);
  switch (machine) {
    case 'pod':
      return `pod ${what?.namespace}/${what?.name}`;
    case 'container':
      return containerName(seenContainer(scene, actor));
    case 'imagePull':
      return `the image of ${above ? whoIs(scene, above) : 'a container'}`;
    case 'volume':
      return `volume ${what?.name}`;
    case 'podWriter':
      return 'the writer of its status';
    default:
      return machine;
  }
}

function headlineOf(scene: Scene, actor: LiveActor, causes: readonly Cause[]): string {
  const { pod, termination, status } = seenPod(scene, actor);
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
  const remarks = causes.filter(({ weight }) => weight === WEIGHTS.remark);
  const [root, ...more] = causes.filter(({ weight }) => weight > WEIGHTS.remark);
  const others = more.filter(({ weight }) => weight >= WEIGHTS.slow).length;
  const also = others > 0 ? ` (and ${others} more that it waits for)` : '';
  if (termination) {
    const why = termination.failed ? `, as ${termination.failed.reason}: ${clause(termination.failed.message)}` : '';
    const ended = `${name} has ended (${status?.phase ?? 'unknown'}${why})`;
    if (actor.tags.includes('containersStopped') && !root && !remarks[0])
      return sentence(`${ended}. ${meaningOf(scene, actor)}`);
    const held = root ?? remarks[0];
    const begins = actor.tags.includes('containersStopped')
      ? ended
      : `${name} is to end${why} and still has something that runs`;
    return sentence(`${begins}: ${held ? held.text : clause(meaningOf(scene, actor))}${also}`);
  }
  if (!isRunning(scene, actor)) {
    const verdict = status?.phase === 'Running' ? 'does not run as it is to' : 'is not Running';
    const text = root?.text ?? causes[0]?.text ?? clause(meaningOf(scene, actor));
    return sentence(`${name} ${verdict}: ${text}${also}`);
  }
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const deadline = timersOf(scene, actor).map((timer) => timerWords(scene, actor, timer));
  const notes = [
    ...(ready?.status === 'False'
      ? [`it is not Ready: ${[ready.reason, ready.message].filter(Boolean).join(': ')}`]
      : []),
    ...remarks.map(({ text }) => text),
    ...deadline,
  ];
  if (notes.length === 0) return `${name} runs, and nothing is wrong with it: ${clause(meaningOf(scene, actor))}.`;
  return sentence(`${name} runs; ${notes.join('; ')}`);
}

/** Why it is not Running, not Ready, or not gone. */
function whyNot(scene: Scene, actor: LiveActor): string[] {
  const { pod, termination, removed, status } = seenPod(scene, actor);
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
  const still = running(scene, actor);
  if (termination) {
    const holds = [
      ...(still.length > 0 ? [`${listed(still)} may still run`] : []),
      ...(actor.tags.includes('released') ? [] : ['its volumes, cgroup and sandbox are not given back yet']),
      ...(removed ? [] : ['its source still has it, so that its containers and logs can be read']),
    ];
    return holds.length > 0 ? [sentence(`${name} is not gone, because ${listed(holds)}`)] : [];
  }
  const missing = containersOf(scene, actor).filter((child) => !isFine(scene, child));
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return [
    ...(missing.length > 0
      ? [
          sentence(
            `${name} does not run as a whole, because ${listed(missing.map((child) => `${containerName(seenContainer(scene, child))} does not run (${clause(meaningOf(scene, child))})`))}`,
          ),
        ]
      : []),
    ...(ready?.status === 'False'
      ? [sentence(`${name} is not Ready: ${[ready.reason, ready.message].filter(Boolean).join(': ')}`)]
      : []),
    sentence(`${name} does not end, because nobody has asked for that and it has not ended by itself`),
  ];
}

/** The last steps of all that is about one, in words. */
export function stepsOf({ live, charts }: Scene, actor: string): Step[] {
  return live
    .history()
    .filter((step) => isOf(actor, step))
    .slice(-MOST_STEPS)
    .map(({ at, actor: who, machine, to, cause: { by, detail } }) => ({
      at,
      who,
      to,
      meaning: to
        .split(', ')
        .map((path) => charts[machine]?.states.find((state) => state.path === path)?.description ?? path)
        .join(' '),
      because: detail ?? by,
    }));
}
