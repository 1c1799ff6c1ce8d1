import type { Container, DesiredPod } from '../../kubernetes.types.ts';
import type { ConfigObject, ObjectLookup } from '../objects.types.ts';
import { containerNamed, metadataField, resourceField } from './downward.ts';
import { expand, type EnvironmentVariable } from './expand.ts';
import { requiredObject } from './object-references.ts';

/** What an environment is made of besides the container's spec. */
export interface EnvironmentView {
  pod: DesiredPod;
  /** Of the sandbox, primary first; of the host for a hostNetwork pod. */
  podIPs: readonly string[];
  hostIPs: readonly string[];
  /** The Node's, by resource name. */
  allocatable: Readonly<Record<string, string>>;
  objects: ObjectLookup;
  /** Variables of services: they only fill gaps. */
  services: ReadonlyMap<string, string>;
}

type EnvVar = NonNullable<Container['env']>[number];

/**
 * A container's environment: envFrom in its order, then env, of which a value sees all before it and the later of two
 * wins; values of valueFrom are taken as they are (kubelet_pods.go:makeEnvironmentVariables).
 *
 * @throws Error with the kubelet's words where an object or a key is missing that is not optional; no value is in it
 */
export function containerEnvironment(
  container: Pick<Container, 'env' | 'envFrom' | 'name' | 'resources'>,
  view: EnvironmentView,
): EnvironmentVariable[] {
  const variables = new Map<string, string>();
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const entries = [
      ...(configMapRef ? objectEntries(view.objects, 'ConfigMap', configMapRef) : []),
      ...(secretRef ? objectEntries(view.objects, 'Secret', secretRef) : []),
    ];
    for (const [key, value] of entries) variables.set(prefix + key, value);
  }
  const known = { get: (name: string) => variables.get(name) ?? view.services.get(name) };
  for (const variable of container.env ?? []) {
    const value = variable.value ? expand(variable.value, known) : valueFrom(variable, container as Container, view);
    if (value !== undefined) variables.set(variable.name, value);
  }
  for (const [name, value] of view.services) if (!variables.has(name)) variables.set(name, value);
  return [...variables].map(([name, value]) => ({ name, value }));
}

/** undefined: optional and not there, so there is no such variable. */
function valueFrom({ valueFrom: from }: EnvVar, container: Container, view: EnvironmentView): string | undefined {
  const { pod } = view;
  if (from?.fieldRef) return fieldValue(from.fieldRef.fieldPath, view);
  if (from?.resourceFieldRef) {
    const { containerName } = from.resourceFieldRef;
    const of = containerName ? containerNamed(pod, containerName) : container;
    return resourceField(of, from.resourceFieldRef, view.allocatable);
  }
  for (const [kind, reference] of [
    ['ConfigMap', from?.configMapKeyRef],
    ['Secret', from?.secretKeyRef],
  ] as const) {
    if (!reference) continue;
    const { name = '', key, optional } = reference;
    const object = requiredObject(view.objects, { kind, name }, optional);
    const value = object?.data?.[key];
    if (value !== undefined) return textOf(kind, value);
    if (optional) return undefined;
    throw new Error(`couldn't find key ${key} in ${kind} ${pod.metadata.namespace}/${name}`);
  }
  return '';
}

/** kubelet_pods.go:podFieldSelectorRuntimeValue */
function fieldValue(fieldPath: string, { pod, podIPs, hostIPs }: EnvironmentView): string {
  switch (fieldPath) {
    case 'spec.nodeName':
      return pod.spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIPs[0] ?? '';
    case 'status.hostIPs':
      return hostIPs.join(',');
    case 'status.podIP':
      return podIPs[0] ?? '';
    case 'status.podIPs':
      return podIPs.join(',');
    default:
      return metadataField(pod, fieldPath);
  }
}

function objectEntries(
  objects: ObjectLookup,
  kind: 'ConfigMap' | 'Secret',
  { name = '', optional }: { name?: string; optional?: boolean },
): [string, string][] {
  const object: ConfigObject | undefined = requiredObject(objects, { kind, name }, optional);
  return Object.entries(object?.data ?? {}).map(([key, value]) => [key, textOf(kind, value)]);
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** An environment is text: a Secret's bytes are taken for UTF-8. */
function textOf(kind: 'ConfigMap' | 'Secret', value: string): string {
  return kind === 'Secret' ? decoder.decode(Uint8Array.from(atob(value), (c) => c.charCodeAt(0))) : value;
}
