import { forbidden, invalid } from './errors.ts';
import type { FieldProblem } from './errors.ts';
import { dictAt, isDict, listAt, textAt } from './objects.ts';
import type { KubeObject } from './objects.ts';
import { admitPod, preparePod, preparePodUpdate, validatePod } from './pod-strategy.ts';
import type { Resource } from './resources.ts';
import type { Store } from './store.ts';
import type { User } from './users.ts';

/** What admission may look at. */
export interface Context {
  now: number;
  user: User;
  store: Store;
}

/** Kinds whose metadata.generation counts changes of the spec. */
const GENERATIONS = new Set(['Pod', 'DaemonSet', 'Deployment', 'ReplicaSet', 'Job', 'PodDisruptionBudget']);
/** Kinds that are created with the status that the client gave. */
const STATUS_ON_CREATE = new Set(['Node', 'Event', 'Endpoints']);

export const hasGeneration = (resource: Resource) => GENERATIONS.has(resource.kind);

/** Defaults, mutating admission and validation of a new object, in place. Throws 403 or 422. */
export function prepareCreate(resource: Resource, object: KubeObject, context: Context): void {
  if (!STATUS_ON_CREATE.has(resource.kind)) delete object['status'];
  if (hasGeneration(resource)) object.metadata.generation = 1;
  switch (resource.kind) {
    case 'Pod':
      preparePod(object);
      admitPod(object, context);
      break;
    case 'Namespace':
      object['spec'] = { finalizers: ['kubernetes'] };
      object['status'] = { phase: 'Active' };
      object.metadata.labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name ?? '' };
      break;
    case 'Node':
      taintNewNode(object);
      break;
    case 'Secret':
      prepareSecret(object);
      break;
    case 'CertificateSigningRequest': {
      const { username, groups, uid } = context.user;
      Object.assign(dictAt(object, 'spec'), { username, groups: [...groups], ...(uid && { uid }) });
      object['status'] = {};
      break;
    }
    case 'Service':
      prepareService(object);
      break;
  }
  refuse(resource, object, [...validateName(resource, object), ...validateKind(resource, object)]);
}

/** Resets what an update may not change and validates the rest, in place on `next`. Throws 422. */
export function prepareUpdate(resource: Resource, next: KubeObject, current: KubeObject, subresource: string): void {
  if (subresource === 'status') {
    next['spec'] = current['spec'];
    if (resource.kind === 'Pod') next.metadata.ownerReferences = current.metadata.ownerReferences;
  } else if (Object.keys(resource.subresources).includes('status') && subresource !== 'approval')
    next['status'] = current['status'];
  if (resource.kind === 'Pod') preparePodUpdate(resource, next, current, subresource);
  if (resource.kind === 'Secret') prepareSecret(next);
  if (resource.kind === 'CertificateSigningRequest') next['spec'] = current['spec'];
  refuse(resource, next, validateKind(resource, next));
}

function refuse(resource: Resource, object: KubeObject, problems: readonly FieldProblem[]): void {
  if (problems.length) throw invalid(resource, object.metadata.name ?? '', problems);
}

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function validateName(resource: Resource, { metadata: { name = '' } }: KubeObject): FieldProblem[] {
  if (!name)
    return [
      {
        field: 'metadata.name',
        reason: 'FieldValueRequired',
        message: 'Required value: name or generateName is required',
      },
    ];
  if (SUBDOMAIN.test(name) && name.length <= 253) return [];
  const message = `Invalid value: "${name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`;
  return resource.plural === 'events' && !/[/%]/.test(name)
    ? []
    : [{ field: 'metadata.name', reason: 'FieldValueInvalid', message }];
}

function validateKind(resource: Resource, object: KubeObject): FieldProblem[] {
  if (resource.kind === 'Pod') return validatePod(object);
  if (resource.plural === 'events') return validateEvent(object);
  if (resource.kind === 'Lease') return validateLease(object);
  return [];
}

/** An event of a namespaced object lives beside it; one of a cluster-wide object in default (or kube-system). */
function validateEvent(event: KubeObject): FieldProblem[] {
  const involved = textAt(event, 'involvedObject.namespace');
  const own = event.metadata.namespace ?? '';
  const fits = involved ? involved === own : own === 'default' || own === 'kube-system';
  if (fits) return [];
  return [
    {
      field: 'involvedObject.namespace',
      reason: 'FieldValueInvalid',
      message: `Invalid value: "${involved}": does not match event.namespace`,
    },
  ];
}

function validateLease(lease: KubeObject): FieldProblem[] {
  const spec = lease['spec'];
  const seconds = isDict(spec) ? spec['leaseDurationSeconds'] : undefined;
  if (seconds === undefined || (typeof seconds === 'number' && seconds > 0)) return [];
  return [
    {
      field: 'spec.leaseDurationSeconds',
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${String(seconds)}: must be greater than 0`,
    },
  ];
}

/** A node begins not ready to anyone. Source: admission plugin TaintNodesByCondition. */
function taintNewNode(node: KubeObject): void {
  const spec = dictAt(node, 'spec');
  const key = 'node.kubernetes.io/not-ready';
  const taints = listAt(spec, 'taints');
  if (taints.some((t) => t['key'] === key && t['effect'] === 'NoSchedule')) return;
  spec['taints'] = [...taints, { key, effect: 'NoSchedule' }];
}

/** `stringData` is written into `data`; the type is Opaque unless said. */
function prepareSecret(secret: KubeObject): void {
  const text = secret['stringData'];
  if (isDict(text)) {
    const data = dictAt(secret, 'data');
    for (const [key, value] of Object.entries(text)) data[key] = Buffer.from(String(value)).toString('base64');
    delete secret['stringData'];
  }
  secret['type'] ??= 'Opaque';
}

function prepareService(service: KubeObject): void {
  const spec = dictAt(service, 'spec');
  spec['type'] ??= 'ClusterIP';
  spec['sessionAffinity'] ??= 'None';
  for (const port of listAt(spec, 'ports')) {
    port['protocol'] ??= 'TCP';
    port['targetPort'] ??= port['port'];
  }
  service['status'] = { loadBalancer: {} };
}

/** Objects can be made only in a namespace that is there and stays. Source: admission plugin NamespaceLifecycle. */
export function admitNamespace(resource: Resource, object: KubeObject, namespace: KubeObject): void {
  if (namespace.metadata.deletionTimestamp)
    throw forbidden(
      resource,
      object.metadata.name ?? '',
      `unable to create new content in namespace ${namespace.metadata.name} because it is being terminated`,
    );
}
