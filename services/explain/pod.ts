import type { LiveActor } from '../live/live.types.ts';
import { allNext, meaningOf, placeOf, timersOf, timerWords, waitsOf } from './actor.ts';
import { isBeingWritten } from './agent-causes.ts';
import { containerName, exitWords, isFine, logOf, seenContainer } from './container.ts';
import { isTrouble, WEIGHTS, type Cause, type Explanation, type Scene } from './explain.types.ts';
import { containersOf, isRunning, podCauses, running } from './pod-causes.ts';
import { about, below, seenPod } from './scene.ts';
import { stepsOf } from './steps.ts';
import { clause, listed, sentence } from './words.ts';

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
    trouble: isTrouble(causes[0]),
    places: all.map((each) => placeOf(scene, each, whoIs(scene, each))),
    waitsFor: [
      ...causes.map(({ text }) => ({
        who: `pod ${namespace}/${name}`,
        for: 'reason' as const,
        what: '',
        text: sentence(text),
      })),
      ...containersOf(scene, actor).flatMap((each) => logOf(scene, each)),
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
  switch (machine) {
    case 'pod':
      return `pod ${what?.namespace}/${what?.name}`;
    case 'container':
      return containerName(seenContainer(scene, actor));
    case 'imagePull': {
      const above = scene.actors.find(({ sessionId }) => sessionId === parent);
      return `the image of ${above ? whoIs(scene, above) : 'a container'}`;
    }
    case 'probe': {
      const above = scene.actors.find(({ sessionId }) => sessionId === parent);
      return `the ${what?.name} probe of ${above ? whoIs(scene, above) : 'a container'}`;
    }
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
  const remarks = causes.filter(({ weight }) => weight === WEIGHTS.remark).map(({ text }) => text);
  const [root, ...more] = causes.filter(({ weight }) => weight > WEIGHTS.remark);
  const others = more.filter(({ weight }) => weight >= WEIGHTS.slow).length;
  const also = others > 0 ? ` (and ${others} more below)` : '';
  if (termination) return sentence(endWords(scene, actor, root && `${root.text}${also}`, remarks));
  if (!isRunning(scene, actor)) {
    const verdict = status?.phase === 'Running' ? 'does not run as it is to' : 'is not Running';
    const text = root?.text ?? remarks[0] ?? clause(meaningOf(scene, actor));
    return sentence(`${name} ${verdict}: ${text}${also}`);
  }
  const deadline = timersOf(scene, actor).map((timer) => timerWords(scene, actor, timer));
  const notes = [...notReady(scene, actor), ...remarks, ...deadline];
  return sentence(
    notes.length > 0 ? `${name} runs; ${notes.join('; ')}` : `${name} runs, and nothing is wrong with it`,
  );
}

/** A pod that is to end, or has: why, and what of it is left. */
function endWords(scene: Scene, actor: LiveActor, root: string | undefined, remarks: readonly string[]): string {
  const { pod, termination, status, observed } = seenPod(scene, actor);
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
  const { failed } = termination ?? {};
  const [asked] = scene.live
    .history(`pod ${name}`)
    .filter(({ sessionId, cause }) => sessionId === actor.sessionId && cause.by !== 'effectFailed')
    .slice(-1);
  const why = failed ? `${failed.reason}: ${clause(failed.message)}` : asked?.cause.detail;
  const because = why === undefined ? '' : ` (${why})`;
  const isTold = actor.tags.includes('released') && isBeingWritten(scene, pod.metadata);
  const means = isTold ? 'the API server is being told of that' : clause(meaningOf(scene, actor));
  const left = root ?? remarks[0] ?? means;
  if (!actor.tags.includes('containersStopped')) return `${name} is to end${because}: ${left}`;
  if (root !== undefined || !actor.tags.includes('released'))
    return `nothing of ${name} runs any more${because}, and not all that it held is given back: ${left}`;
  const bad = observed.containers.find(({ exitCode = 0 }) => exitCode !== 0);
  const how = status?.phase === 'Failed' && !failed && bad ? ` (${exitWords(scene, bad)})` : because;
  return `${name} has ended${status?.phase ? ` as ${status.phase}` : ''}${how}: ${left}`;
}

/** Why the condition Ready is false; empty where it is not. */
function notReady(scene: Scene, actor: LiveActor): string[] {
  const ready = seenPod(scene, actor).status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'False'
    ? [`it is not Ready: ${[ready.reason, ready.message].filter(Boolean).join(': ')}`]
    : [];
}

/** Why it is not Running, not Ready, or not gone. */
function whyNot(scene: Scene, actor: LiveActor): string[] {
  const { pod, termination, removed } = seenPod(scene, actor);
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
  return [
    ...(missing.length > 0
      ? [
          sentence(
            `${name} does not run as a whole, because ${listed(missing.map((child) => `${containerName(seenContainer(scene, child))} does not run (${clause(meaningOf(scene, child))})`))}`,
          ),
        ]
      : []),
    ...notReady(scene, actor).map(sentence),
    sentence(`${name} does not end, because nobody has asked for that and it has not ended by itself`),
  ];
}
