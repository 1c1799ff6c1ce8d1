import type { LiveActor } from '../live/live.types.ts';
import { allNext, callsOf, callWords, placeOf, statesOf, timerSuffix, waitsOf } from './actor.ts';
import { agentCauses, heldBy } from './agent-causes.ts';
import { isTrouble, slowness, WEIGHTS, type Cause, type Explanation, type Scene } from './explain.types.ts';
import { isRunning } from './pod-causes.ts';
import { agentOf, childrenOf } from './scene.ts';
import { stepsOf } from './steps.ts';
import { listed, sentence } from './words.ts';

/** Machines of the node, in words; others are of its pods, or come and go. */
const NODE: Readonly<Record<string, string>> = {
  syncloop: 'the agent',
  runtimeHealth: "the runtime's health",
  pleg: 'the view of the runtime',
  podSource: 'a source of manifests',
  apiSource: "the API server's pods",
  node: 'the Node object',
  nodeStatus: "the Node's status",
  lease: 'the lease',
};

/** Those that are not shown at the node, in words, where one fails. */
const OTHERS: Readonly<Record<string, string>> = {
  housekeeping: 'the housekeeping',
  logRotation: 'the rotation of logs',
  cluster: "the API server's side of the agent",
  statusWriter: 'the writer of statuses',
  eventRecorder: 'the recorder of events',
};

/** Children of the agent that begin when the runtime has answered, and of the cluster; all last until the agent drains. */
const WATCHERS = ['pleg', 'runtimeHealth', 'housekeeping'];
const OF_CLUSTER = ['apiSource', 'statusWriter', 'node', 'eventRecorder'];

/** Pods that are named. */
const MOST = 3;

/** The node: the agent, its runtime, its sources and its API server. */
export function explainNode(scene: Scene): Explanation {
  const agent = agentOf(scene);
  const name = agent?.seen.nodeName ?? '';
  const order = Object.keys(NODE);
  const own = scene.actors
    .filter(({ machine }) => order.includes(machine))
    .sort((a, b) => order.indexOf(a.machine) - order.indexOf(b.machine));
  // What only goes on by its periods is not waited for.
  const held = own.filter((actor) => statesOf(scene, actor).some(({ holdsBack }) => holdsBack));
  const who = (actor: LiveActor) =>
    actor.machine === 'podSource' ? `the ${actor.id}` : (NODE[actor.machine] ?? actor.machine);
  const causes = [
    ...agentCauses(scene, true),
    ...missingCauses(scene),
    ...sourceCauses(scene),
    ...own.flatMap((actor) => ownCause(scene, actor, who(actor))),
  ];
  const sorted = causes.sort((a, b) => b.weight - a.weight);
  const pods = scene.actors.filter(({ machine }) => machine === 'pod');
  const well = pods.filter((pod) => isRunning(scene, pod)).length;
  const others = pods.filter((pod) => !isRunning(scene, pod) && !pod.tags.includes('released'));
  const count =
    pods.length === 0
      ? 'it has no pods'
      : `${pods.length} pod${pods.length === 1 ? '' : 's'}, of which ${well} run${well === 1 ? 's' : ''} as wanted${askOf(others)}`;
  const [root, ...more] = sorted;
  const also = more.length > 0 ? ` (and ${more.length} more below)` : '';
  return {
    ...{ kind: 'node', name, found: agent !== undefined, similar: [] },
    headline: sentence(root ? `node ${name}: ${root.text}${also}` : `node ${name} is well: ${count}`),
    trouble: isTrouble(root),
    places: own.map((actor) => placeOf(scene, actor, who(actor))),
    waitsFor: [
      ...sorted.map(({ text }) => ({ who: `node ${name}`, for: 'reason' as const, what: '', text: sentence(text) })),
      ...held.flatMap((actor) => waitsOf(scene, actor, who(actor))),
    ],
    next: allNext(scene, held.length > 0 ? held : own, who),
    whyNot: root ? [sentence(`${count}`)] : [],
    steps: stepsOf(scene, 'node'),
  };
}

/** The pods that do not run as wanted, and how to ask why: what is wrong with a pod is not wrong with the node. */
function askOf(pods: readonly LiveActor[]): string {
  if (pods.length === 0) return '';
  const names = pods.map(({ about }) => `${about?.namespace}/${about?.name}`);
  const more = names.length > MOST ? ` and ${names.length - MOST} more` : '';
  const verb = names.length === 1 ? 'does' : 'do';
  return `; ${names.slice(0, MOST).join(', ')}${more} ${verb} not: statelet explain pod ${names[0]} says why`;
}

/** Children that are to be there and are not: each has thrown, and is made again after a pause. */
function missingCauses(scene: Scene): Cause[] {
  const agent = agentOf(scene);
  if (!agent) return [];
  const { actor, seen } = agent;
  const isListening = ['recovering', 'running', 'paused'].includes(actor.state);
  if (!isListening && !['opening', 'waitingForRuntime'].includes(actor.state)) return [];
  const { cluster, logRotation } = seen.settings;
  const lacks = (parent: LiveActor, ids: readonly string[]) => {
    const there = childrenOf(scene, parent).filter(({ status }) => status === 'active');
    return ids.filter((id) => !there.some((child) => child.id === id));
  };
  const ofCluster = childrenOf(scene, actor).find(({ machine }) => machine === 'cluster');
  const sources = seen.sources.flatMap(({ source }) => (source === 'api' ? [] : [`${source}Source`]));
  const watchers = isListening ? [...WATCHERS, ...(logRotation ? ['logRotation'] : [])] : [];
  const missing = [
    ...lacks(actor, [...sources, ...(cluster ? ['cluster'] : []), ...watchers]),
    ...(ofCluster?.state === 'connected' ? lacks(ofCluster, OF_CLUSTER) : []),
  ];
  return missing.map((id) => ({
    weight: WEIGHTS.failed,
    text: `${NODE[id] ?? OTHERS[id] ?? `the ${id}`}: has failed and is about to be started again`,
  }));
}

/** Sources that have not delivered, and what is wrong with what others delivered. */
function sourceCauses(scene: Scene): Cause[] {
  const agent = agentOf(scene);
  if (!agent) return [];
  const { sources, delivered, problems } = agent.seen;
  const missing = sources.map(({ source }) => source).filter((source) => !delivered.includes(source));
  return [
    ...(missing.length > 0
      ? [
          {
            weight: WEIGHTS.progress,
            text: `no pod is judged absent yet, because ${missing.length > 1 ? 'these sources have' : 'a source has'} not delivered: ${listed(missing)}`,
          },
        ]
      : []),
    ...Object.values(problems).flatMap((all) =>
      (all ?? []).map(({ message }) => ({ weight: WEIGHTS.slow, text: message })),
    ),
  ];
}

/** An actor of the node that is held back, or whose call takes long. */
function ownCause(scene: Scene, actor: LiveActor, who: string): Cause[] {
  if (actor.machine === 'syncloop' || actor.machine === 'runtimeHealth') return [];
  const suffix = timerSuffix(scene, actor);
  const { unavailable } = (scene.live.peek(actor.sessionId) ?? {}) as { unavailable?: string };
  const held = heldBy(scene, actor);
  if (held !== undefined)
    return [{ weight: WEIGHTS.failed, text: `${who}: ${unavailable ? `${unavailable}; ` : ''}${held}${suffix}` }];
  const [call] = callsOf(scene, actor);
  const age = call ? scene.now - call.began : 0;
  if (!call || slowness(age) < WEIGHTS.slow) return [];
  return [{ weight: WEIGHTS.slow, text: `${who}: ${callWords(scene, actor, call)}` }];
}
