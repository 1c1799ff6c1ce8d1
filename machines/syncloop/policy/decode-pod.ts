import type { DesiredPod, Pod, PodSpec } from '../../kubernetes.types.ts';
import { logDirectoryName, MAX_FILE_NAME } from '../../pod/policy/names.ts';
import { fieldProblems, isObject, type Plain, type PlainObject } from './check-fields.ts';
import { withDefaults } from './default-pod.ts';
import { parseManifest } from './parse-manifest.ts';
import { asStaticPod, staticPodName, staticPodProblems, type StaticPodOrigin } from './static-pod.ts';
import { POD } from './supported-fields.ts';
import { podProblems } from './validate-pod.ts';

export interface DecodedManifest {
  pods: DesiredPod[];
  /** One line each: origin, field, what is accepted. */
  problems: string[];
}

/** Pods of `v1` alone, their list, or the API's list of anything. */
const KINDS = ['Pod', 'PodList', 'List'];

/**
 * The pods that a manifest declares, defaulted and made this node's. A manifest is used whole or not at all: with any
 * problem there are no pods. Never throws for what a manifest holds.
 *
 * @param text JSON or YAML, one document
 * @param origin path or URL; begins every problem, and is a part of what UIDs are made of
 */
export function decodeManifest(
  text: string,
  origin: string,
  options: Omit<StaticPodOrigin, 'origin'>,
): DecodedManifest {
  const parsed = parseManifest(text);
  const failed = (problems: string[]): DecodedManifest => ({
    pods: [],
    problems: problems.map((problem) => `${origin}: ${problem}`),
  });
  if (!parsed.ok) return failed([parsed.problem]);
  const listed = listPods(parsed.value);
  if ('problem' in listed) return failed([listed.problem]);
  const pods: DesiredPod[] = [];
  const problems: string[] = [];
  for (const { path, value } of listed.items) {
    const result = decodePod(value, path, { ...options, origin });
    if (Array.isArray(result)) problems.push(...result.map((problem) => `${path && `${path}.`}${problem}`));
    else pods.push(result);
  }
  return problems.length > 0 ? failed(problems) : { pods, problems };
}

type Item = { path: string; value: Plain };

function listPods(value: Plain): { items: Item[] } | { problem: string } {
  if (!isObject(value)) return { problem: 'must be a map with apiVersion, kind, metadata and spec' };
  const { kind, apiVersion, items } = value;
  if (kind === undefined) return { problem: `kind: is required, accepted are ${KINDS.join(', ')}` };
  if (typeof kind !== 'string' || !KINDS.includes(kind)) {
    return { problem: `kind: ${show(kind)} is not accepted, accepted are ${KINDS.join(', ')}` };
  }
  if (apiVersion === undefined) return { problem: 'apiVersion: is required, accepted is v1' };
  if (apiVersion !== 'v1') return { problem: `apiVersion: ${show(apiVersion)} is not accepted, accepted is v1` };
  if (kind === 'Pod') return { items: [{ path: '', value }] };
  if (!Array.isArray(items)) return { problem: 'items: must be a list of pods' };
  return { items: items.map((item, index) => ({ path: `items[${index}]`, value: item })) };
}

function decodePod(value: Plain, path: string, from: StaticPodOrigin): DesiredPod | string[] {
  const problems = fieldProblems(value, POD);
  if (problems.length > 0) return problems;
  const { status: _status, ...pod } = value as PlainObject as unknown as Pod & { spec: PodSpec };
  const { metadata } = pod;
  const rules = podProblems({
    ...pod,
    metadata: metadata?.name ? { ...metadata, name: staticPodName(metadata.name, from.nodeName) } : metadata,
  });
  rules.push(...staticPodProblems(pod));
  if (rules.length > 0) return rules;
  const made = asStaticPod(pod, from);
  const excess = logDirectoryName(made).length - MAX_FILE_NAME;
  if (excess > 0) return [`metadata.name: is too long by ${excess}: ${LOG_DIRECTORY_RULE}`];
  return withDefaults(made) as DesiredPod;
}

const LOG_DIRECTORY_RULE =
  "accepted are at most 253 of namespace, name with the node's, and UID together, of which the log folder's name is made";

function show(value: Plain): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 64)) : typeof value;
}
