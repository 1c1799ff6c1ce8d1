import { explainPod } from './pod.ts';
import { explainMissing } from './missing.ts';
import { explainContainer, explainShort } from './of-container.ts';
import { explainNode } from './node.ts';
import type { Explanation, ExplainView, Scene, Target } from './explain.types.ts';
import { about, agentOf, sceneOf, seenPod } from './scene.ts';

/** Why it is where it is. Pure but for what the view reads; nothing secret is in the answer. */
export function explain(view: ExplainView, target: Target): Explanation {
  const scene = sceneOf(view);
  return view.live.redacted(explanationOf(scene, target)) as Explanation;
}

function explanationOf(scene: Scene, target: Target): Explanation {
  if (target.kind === 'node') return explainNode(scene);
  const named = { ...target, name: nameOf(scene, target) };
  const pods = about(scene, 'pod', named.namespace, named.name);
  // Of two of one name, the one that is to stay.
  const pod = pods.findLast((each) => seenPod(scene, each).termination === undefined) ?? pods.at(-1);
  if (!pod) return shortOf(scene, target) ?? explainMissing(scene, named);
  return named.kind === 'pod' ? explainPod(scene, pod) : explainContainer(scene, pod, named);
}

/** `explain container default/web`: without the container's name, the pod's words are taken for a pod and a container. */
function shortOf(scene: Scene, target: Exclude<Target, { kind: 'node' }>): Explanation | undefined {
  if (target.kind !== 'container' || target.namespace !== 'default') return undefined;
  const meant = { kind: 'pod', namespace: target.name, name: target.container } as const;
  const pod = about(scene, 'pod', meant.namespace, nameOf(scene, meant)).at(-1);
  return pod && explainShort(scene, pod, `${target.namespace}/${target.name}/${target.container}`);
}

/** A static pod may be called as its manifest has it, without the node's name. */
function nameOf(scene: Scene, { namespace, name }: Exclude<Target, { kind: 'node' }>): string {
  const { entries = {}, desired = {}, nodeName = '' } = agentOf(scene)?.seen ?? {};
  const wanted = Object.values(desired).flatMap((pods) => (pods ?? []).map(({ metadata }) => metadata));
  const all = [...Object.values(entries), ...wanted];
  const has = (own: string) => all.some((pod) => pod.namespace === namespace && pod.name === own);
  const full = `${name}-${nodeName}`;
  return !has(name) && has(full) ? full : name;
}
