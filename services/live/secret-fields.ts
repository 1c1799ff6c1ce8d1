import type { Secrets } from './secrets.ts';

/**
 * What may be shown of a field: `show` all of it; `names` what names things, and no other text below; `annotations` the
 * agent's own; `nothing` not one text below; `written` likewise, being what a container or a server wrote.
 */
export type Rule = 'show' | 'names' | 'annotations' | 'nothing' | 'written';

/** Texts that name things. */
const NAMES = new Set(
  (
    'name namespace uid podUid id podId containerId containerID sandboxId imageId imageID image imageRef key kind ' +
    'apiVersion type state status phase reason do to op by source src machine path mountPath subPath mode optional ' +
    'defaultMode audience secretName configMapName resourceVersion fieldPath resource nodeName hash severity'
  ).split(' '),
);

/** What the kubelet itself writes; any other annotation may hold a whole manifest (last-applied-configuration). */
const ANNOTATIONS = new Set([
  'kubernetes.io/config.source',
  'kubernetes.io/config.seen',
  'kubernetes.io/config.hash',
  'kubernetes.io/config.mirror',
  'io.kubernetes.container.hash',
  'io.kubernetes.container.restartCount',
  'io.kubernetes.container.terminationMessagePath',
  'io.kubernetes.container.terminationMessagePolicy',
  'io.kubernetes.pod.terminationGracePeriod',
  'io.kubernetes.pod.deletionGracePeriod',
]);

/** They name secrets, or how tokens are made. */
const REFERENCES = new Set([
  ...['valueFrom', 'envFrom', 'secretRef', 'secretKeyRef', 'secretName', 'imagePullSecrets'],
  ...['serviceAccountToken', 'automountServiceAccountToken', 'tokenExpirationSeconds'],
]);
const SECRET =
  /pass(word|wd|phrase)|secret|token|authorization|credential|cookie|auths?$|api.?key|(private|access|signing).?key|client.?(key|certificate)|kube.?config|docker.?config|-data$/i;
const ENVIRONMENT = /^(envs?|environment)$/i;
const HEADERS = /headers?$/i;
/** What a command or a server answered. */
const OUTPUT = /^(stdout|stderr|output|logs?|body)$/i;
const DATA = /^(data|stringData|binaryData|volumeAttributes)$/;

/** What may be shown of the field `key` of `holder`. */
function ruleOf(key: string, value: unknown, holder: object): Rule {
  if (REFERENCES.has(key)) return 'show';
  if (key === 'annotations') return 'annotations';
  if (ENVIRONMENT.test(key) || HEADERS.test(key)) return Array.isArray(value) ? 'names' : 'nothing';
  if (OUTPUT.test(key)) return 'written';
  if (DATA.test(key)) return ('kind' in holder && holder.kind === 'Secret') || isFlat(value) ? 'nothing' : 'show';
  // A termination message is what the container wrote.
  if (key === 'message' && 'exitCode' in holder) return 'written';
  return SECRET.test(key) ? 'names' : 'show';
}

/** What of `rule` holds for what is below the field `key`. */
export function ruleBelow(rule: Rule, key: string, value: unknown, holder: object): Rule {
  if (rule === 'show') return ruleOf(key, value, holder);
  return rule === 'names' && REFERENCES.has(key) ? 'show' : rule;
}

/** Whether a text of this field is shown under this rule. */
export function isShown(rule: Rule, key: string): boolean {
  if (rule === 'names') return NAMES.has(key);
  return rule === 'annotations' ? ANNOTATIONS.has(key) : rule === 'show';
}

export const isName = (key: string): boolean => NAMES.has(key);

/** Texts or bytes by key, as in a Secret or a ConfigMap. */
function isFlat(value: unknown): boolean {
  const isLeaf = (inner: unknown) => typeof inner === 'string' || ArrayBuffer.isView(inner);
  return isLeaf(value) || (typeof value === 'object' && value !== null && Object.values(value).every(isLeaf));
}

/** What containers wrote and annotations are looked for elsewhere only where they are this long: words would be found. */
const LONG = 8;
/** Deeper than any Kubernetes object. */
const DEEPEST = 24;
/** What each pod holds; objects of contexts are never changed. */
const ofPods = new WeakMap<object, readonly string[]>();

/** Adds every secret in the value, which may also stand in other texts, such as an error's message. */
export function collectSecrets(value: unknown, into: Secrets): void {
  for (const secret of secretsIn(value, '', 'show', new Set())) into.add(secret);
}

function secretsIn(value: unknown, key: string, rule: Rule, path: Set<object>): readonly string[] {
  if (typeof value === 'string') {
    const isProse = rule === 'annotations' || rule === 'written';
    return isShown(rule, key) || (isProse && value.length < LONG) ? [] : [value];
  }
  if (typeof value !== 'object' || value === null || path.size > DEEPEST || path.has(value) || isOpaque(value))
    return [];
  const isPod = rule === 'show' && 'metadata' in value && 'spec' in value;
  const known = isPod && ofPods.get(value);
  if (known) return known;
  path.add(value);
  const found = entriesOf(value).flatMap(([inner, own]) =>
    secretsIn(own, inner, ruleBelow(rule, inner, own, value), path),
  );
  path.delete(value);
  if (isPod) ofPods.set(value, found);
  return found;
}

/** Actors and bytes are not looked into. */
export function isOpaque(value: object): boolean {
  return ArrayBuffer.isView(value) || 'getSnapshot' in value || value instanceof Date || value instanceof Promise;
}

/** Own fields; of arrays, maps and sets the elements. A getter is not run. */
export function entriesOf(value: object): [string, unknown][] {
  if (Array.isArray(value)) return value.map((inner: unknown, i) => [String(i), inner]);
  if (value instanceof Map) return [...value].map(([key, inner]: [unknown, unknown]) => [String(key), inner]);
  if (value instanceof Set) return [...value].map((inner: unknown, i) => [String(i), inner]);
  return Object.entries(Object.getOwnPropertyDescriptors(value)).flatMap(([key, { value: inner, get }]) =>
    key === 'stack' ? [] : [[key, get ? '[getter]' : inner] as [string, unknown]],
  );
}
