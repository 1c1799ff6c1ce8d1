import { parse } from 'node:path';
import type { PodEntry } from '../../machines/syncloop/syncloop.types.ts';
import { judgedAgainAfter } from '../../machines/pod/policy/admit/refusal.ts';
import { allNext, placeOf, waitsOf } from './actor.ts';
import { agentCauses, writerCause } from './agent-causes.ts';
import type { Explanation, Scene, Target } from './explain.types.ts';
import { whoIs } from './pod.ts';
import { about, agentOf, type SeenAgent } from './scene.ts';
import { stepsOf } from './steps.ts';
import { clause, closeNames, listed, sentence, span } from './words.ts';

/** A pod that has no actor: refused, not begun, gone, broken at its source, or never there. */
export function explainMissing(scene: Scene, target: Extract<Target, { kind: 'pod' | 'container' }>): Explanation {
  const { namespace, name } = target;
  const full = `${namespace}/${name}`;
  const agent = agentOf(scene);
  const writers = about(scene, 'podWriter', namespace, name);
  const steps = stepsOf(scene, `pod ${full}`);
  const told = agent && reasonOf(scene, agent.seen, namespace, name);
  const asked = target.kind === 'pod' ? full : `${full}/${target.container}`;
  const held = agentCauses(scene, true)[0];
  const broken = agent ? brokenOf(agent.seen) : [];
  const similar = told ? [] : closeNames(full, namesOf(agent?.seen));
  const unknown = [
    `the agent has no pod ${full}`,
    ...(held ? [held.text] : []),
    ...(similar.length > 0 ? [`there ${similar.length > 1 ? 'are' : 'is'} ${listed(similar)}`] : []),
    ...(broken.length > 0 ? [`a manifest that cannot be read may be the one: ${broken.join('; ')}`] : []),
  ].join('; ');
  const gone = steps.length > 0 && !told ? `${full} is gone from this node` : undefined;
  const written = writerCause(scene, { namespace, name })[0];
  const writing = writers[0] && placeOf(scene, writers[0], whoIs(scene, writers[0]));
  const left = written?.text ?? (writing && clause(writing.meaning));
  return {
    ...{ kind: target.kind, name: asked, found: told?.found ?? false, similar, steps },
    headline: sentence(told?.text ?? (gone ? `${gone}${left ? `; ${left}` : ''}` : unknown)),
    trouble: gone === undefined,
    places: writers.map((writer) => placeOf(scene, writer, whoIs(scene, writer))),
    waitsFor: [
      ...(told ? [{ who: `pod ${full}`, for: 'reason' as const, what: told.what, text: sentence(told.text) }] : []),
      ...writers.flatMap((writer) => waitsOf(scene, writer, whoIs(scene, writer))),
    ],
    next: allNext(scene, writers, (writer) => whoIs(scene, writer)),
    whyNot: told ? [] : [sentence(`${full} does not run, because no source of pods has it in a form that can be used`)],
  };
}

interface Told {
  found: boolean;
  what: string;
  text: string;
}

/** What is known of a pod that has no actor. */
function reasonOf(scene: Scene, seen: SeenAgent, namespace: string, name: string): Told | undefined {
  const full = `${namespace}/${name}`;
  const isIt = (pod: { namespace: string; name: string }) => pod.namespace === namespace && pod.name === name;
  const entry = Object.values(seen.entries).find(isIt);
  if (entry?.refused) return { found: true, what: entry.status?.reason ?? '', text: refusedWords(seen, entry) };
  const [held] = agentCauses(scene, true);
  const wanted = Object.entries(seen.desired).find(([, pods]) => pods?.some(({ metadata }) => isIt(metadata)));
  if (entry || wanted) {
    const from = entry?.source ?? wanted?.[0] ?? '';
    const is = `${full} is wanted by the ${from} source and is`;
    const text = held
      ? `${is} not ${entry ? 'followed any more' : 'begun yet'}: ${held.text}`
      : seen.looks[wanted?.[1]?.find(({ metadata }) => isIt(metadata))?.metadata.uid ?? '']
        ? `${is} not begun yet: the labels that the Node was last seen with do not let it in, and the Node is read afresh before that counts`
        : `${is} about to be judged: the agent has to know the node and what holds its name first`;
    return { found: true, what: 'held', text };
  }
  const problem = problemsOf(seen).find((each) => names(seen, each, { namespace, name }));
  if (problem) {
    const text =
      problem.source === 'api'
        ? `${full} is not taken in as the API has it: ${problem.message.replace(`${full}: `, '')}`
        : `${full} is not taken from its manifest: ${problem.message}`;
    return { found: true, what: 'FailedValidation', text };
  }
  const left = Object.values(seen.observed).find(isIt);
  if (!left) return undefined;
  const missing = seen.sources.map(({ source }) => source).filter((source) => !seen.delivered.includes(source));
  return {
    found: true,
    what: 'sourcesNotReady',
    text:
      `${full} is known to the runtime alone and is left as it is: nothing is judged absent before every source of pods ` +
      `has delivered, and ${missing.length > 0 ? `${listed(missing)} has not yet` : 'the runtime was not listed yet'}`,
  };
}

function refusedWords({ refusals }: SeenAgent, { uid, namespace, name, pod, status }: PodEntry): string {
  const again = pod && judgedAgainAfter(pod, refusals[uid] ?? 1);
  const what = `${namespace}/${name} was not taken in (${status?.reason ?? 'refused'}): ${clause(status?.message ?? '')}`;
  return again === undefined
    ? `${what}; that is for good, and whoever made it has to make another`
    : `${what}; it is judged again ${span(again)} after that, and ever later, up to 5 min`;
}

type Problem = { source: string; origin: string; message: string };
const problemsOf = ({ problems }: SeenAgent): Problem[] =>
  Object.entries(problems).flatMap(([source, all]) => (all ?? []).map((problem) => ({ source, ...problem })));
/** The manifests of which nobody knows what pods they are of; those of the API are known by their names. */
const brokenOf = (seen: SeenAgent) =>
  problemsOf(seen).flatMap(({ source, message }) => (source === 'api' ? [] : [message]));

/** How the origin of what the API has wrong begins, before the pod's namespace and name (policy/api-set.ts). */
const OF_API = 'api ';

/** Whether a problem is about this pod: the API has it so, its manifest is called so, or another pod has its name or UID. */
function names(seen: SeenAgent, problem: Problem, { namespace, name }: { namespace: string; name: string }): boolean {
  const { source, origin, message } = problem;
  if (source === 'api') return origin === `${OF_API}${namespace}/${name}`;
  const short = shortName(seen, name);
  // What is wrong with a source as a whole has the source's name for its origin.
  if (origin !== source && [name, short].includes(parse(origin).name)) return true;
  return message.startsWith(`Error validating pod ${short}-${seen.nodeName}_${namespace}(`);
}

/** Static pods are asked for by the names in their manifests too. */
const shortName = ({ nodeName }: SeenAgent, name: string) =>
  name.endsWith(`-${nodeName}`) ? name.slice(0, -nodeName.length - 1) : name;

function namesOf(seen: SeenAgent | undefined): string[] {
  if (!seen) return [];
  const wanted = Object.values(seen.desired).flatMap((pods) => (pods ?? []).map(({ metadata }) => metadata));
  const refused = problemsOf(seen).filter(({ source }) => source === 'api');
  return [
    ...[...Object.values(seen.entries), ...wanted].map(
      ({ namespace, name }) => `${namespace}/${shortName(seen, name)}`,
    ),
    ...refused.map(({ origin }) => origin.slice(OF_API.length)),
  ];
}
