import type { PodSpec } from '../../../kubernetes.types.ts';
import type { NodeView } from './admission.types.ts';

type NodeAffinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>;
type Term = NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms'][number];
type Requirement = NonNullable<Term['matchExpressions']>[number];
type Facts = Readonly<Record<string, string>>;

/** Labels that the agent itself answers for. */
const OS_LABEL = 'kubernetes.io/os';
const ARCH_LABEL = 'kubernetes.io/arch';

/** The labels that selectors look at: those of the Node, with the host's own system and architecture. */
export function effectiveLabels({
  labels,
  operatingSystem,
  architecture,
}: Pick<NodeView, 'labels' | 'operatingSystem' | 'architecture'>): Facts {
  return { ...labels, [OS_LABEL]: operatingSystem, [ARCH_LABEL]: architecture };
}

/**
 * Whether the node is one that the pod may be on: every label of its nodeSelector, and one of the terms of its required
 * node affinity (component-helpers/scheduling/corev1/nodeaffinity:RequiredNodeAffinity.Match). Affinity that is preferred
 * is the scheduler's matter alone.
 */
export function selectsNode(spec: PodSpec, name: string, labels: Facts): boolean {
  const selector = Object.entries(spec.nodeSelector ?? {});
  if (!selector.every(([key, value]) => valueOf(labels, key) === value)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || required.nodeSelectorTerms.some((term) => termMatches(term, name, labels));
}

/** All of a term's requirements; a term without any selects nothing. */
function termMatches({ matchExpressions = [], matchFields = [] }: Term, name: string, labels: Facts): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = { 'metadata.name': name };
  return (
    matchExpressions.every((requirement) => labelMatches(requirement, valueOf(labels, requirement.key))) &&
    matchFields.every((requirement) => fieldMatches(requirement, valueOf(fields, requirement.key) ?? ''))
  );
}

/** A requirement that makes no sense (`In` without values, `Gt` with a word) is met by no node. */
function labelMatches({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return values.length > 0 && (value === undefined || !values.includes(value));
    case 'Exists':
      return values.length === 0 && value !== undefined;
    case 'DoesNotExist':
      return values.length === 0 && value === undefined;
    case 'Gt':
    case 'Lt': {
      const [have, bound] = [integer(value), values.length === 1 ? integer(values[0]) : undefined];
      if (have === undefined || bound === undefined) return false;
      return operator === 'Gt' ? have > bound : have < bound;
    }
    default:
      return false;
  }
}

/** Fields know `In` and `NotIn`, each of one value. */
function fieldMatches({ operator, values = [] }: Requirement, value: string): boolean {
  if (values.length !== 1) return false;
  return operator === 'In' ? values[0] === value : operator === 'NotIn' && values[0] !== value;
}

function integer(text: string | undefined): bigint | undefined {
  const digits = /^\+?(-?\d+)$/.exec(text ?? '')?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

/** Labels come from a user: `constructor` is one of them only where somebody has set it. */
function valueOf(record: Facts, key: string): string | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
