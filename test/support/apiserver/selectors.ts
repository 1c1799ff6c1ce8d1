import { badRequest } from './errors.ts';
import { textAt } from './objects.ts';
import type { KubeObject } from './objects.ts';

export type Match = (object: KubeObject) => boolean;

/** A label selector as in `?labelSelector=`: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas. */
export function labelSelector(text: string): Match {
  const matches = split(text).map(requirement);
  return (object) => matches.every((match) => match(object.metadata.labels ?? {}));
}

type LabelMatch = (labels: Record<string, string>) => boolean;

const split = (text: string) => text.split(/,(?![^(]*\))/).filter((part) => part.trim() !== '');

function requirement(part: string): LabelMatch {
  const set = /^\s*(\S+)\s+(in|notin)\s*\(([^)]*)\)\s*$/.exec(part);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    const values = list.split(',').map((v) => v.trim());
    return operator === 'in'
      ? (labels) => labels[key] !== undefined && values.includes(labels[key])
      : (labels) => labels[key] === undefined || !values.includes(labels[key]);
  }
  const pair = /^\s*([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)\s*$/.exec(part);
  if (pair) {
    const [, key = '', operator, value = ''] = pair;
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const exists = /^\s*(!?)\s*([^\s=!()]+)\s*$/.exec(part);
  if (!exists) throw badRequest(`unable to parse requirement: ${part}`);
  const [, not, key = ''] = exists;
  return not ? (labels) => !(key in labels) : (labels) => key in labels;
}

/** A field selector as in `?fieldSelector=`; fields that the resource does not index are refused as the API does. */
export function fieldSelector(text: string, allowed: readonly string[]): Match {
  const matches = split(text).map((part): Match => {
    const pair = /^\s*([^\s=!]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(part);
    if (!pair) throw badRequest(`invalid selector: ${part}`);
    const [, field = '', operator, value] = pair;
    if (field !== 'metadata.name' && field !== 'metadata.namespace' && !allowed.includes(field))
      throw badRequest(`field label not supported: ${field}`);
    return (object) => (fieldOf(object, field) === value) === (operator !== '!=');
  });
  return (object) => matches.every((match) => match(object));
}

/** Booleans are selectable as words; a field that is absent is ''. */
function fieldOf(object: KubeObject, field: string): string {
  if (field === 'spec.unschedulable')
    return String((object['spec'] as { unschedulable?: boolean })?.unschedulable ?? false);
  if (field === 'spec.hostNetwork') return String((object['spec'] as { hostNetwork?: boolean })?.hostNetwork ?? false);
  if (field === 'source') return textAt(object, 'source.component') || textAt(object, 'reportingComponent');
  return textAt(object, field);
}
