import { randomBytes } from 'node:crypto';
import { defaultPod, qosClass } from './defaults.ts';
import { ApiError, forbidden, invalid } from './errors.ts';
import type { FieldProblem } from './errors.ts';
import { dictAt, isDict, listAt, same, textAt } from './objects.ts';
import type { Dict, KubeObject } from './objects.ts';
import type { Resource } from './resources.ts';
import type { Context } from './strategies.ts';
import { nodeNameOf } from './users.ts';

const MIRROR = 'kubernetes.io/config.mirror';
const PODS = { group: '', plural: 'pods', kind: 'Pod' };
const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const TOKEN_SECONDS = 3607;
const TOLERATED_SECONDS = 300;

/** Defaults and the status that a pod is born with. Source: registry/core/pod/strategy.go:PrepareForCreate. */
export function preparePod(pod: KubeObject): void {
  defaultPod(pod);
  pod['status'] = { phase: 'Pending', qosClass: qosClass(dictAt(pod, 'spec')) };
}

/** Mutating admission: ServiceAccount, Priority, DefaultTolerationSeconds, NodeRestriction. */
export function admitPod(pod: KubeObject, context: Context): void {
  const spec = dictAt(pod, 'spec');
  const mirror = pod.metadata.annotations?.[MIRROR] !== undefined;
  const nodeName = nodeNameOf(context.user);
  if (nodeName !== undefined) restrictNode(pod, nodeName, context);
  if (!mirror) serviceAccount(pod, context);
  priority(pod, context);
  const tolerations = listAt(spec, 'tolerations');
  const added = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
    .filter(
      (key) =>
        !tolerations.some(
          (t) => (t['key'] === key || t['key'] === undefined) && (t['effect'] ?? 'NoExecute') === 'NoExecute',
        ),
    )
    .map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATED_SECONDS }));
  if (tolerations.length || added.length) spec['tolerations'] = [...tolerations, ...added];
}

/** A node makes mirror pods of its own only. Source: admission plugin NodeRestriction, admitPodCreate. */
function restrictNode(pod: KubeObject, nodeName: string, { store }: Context): void {
  const refuse = (why: string) => forbidden(PODS, pod.metadata.name ?? '', why);
  if (pod.metadata.annotations?.[MIRROR] === undefined)
    throw refuse(`pod does not have "${MIRROR}" annotation, node "${nodeName}" can only create mirror pods`);
  if (textAt(pod, 'spec.nodeName') !== nodeName)
    throw refuse(`node "${nodeName}" can only create pods with spec.nodeName set to itself`);
  const owners = pod.metadata.ownerReferences ?? [];
  const [owner] = owners;
  if (owners.length !== 1 || !owner)
    throw refuse(`node "${nodeName}" can only create pods with an owner reference set to itself`);
  if (owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== nodeName)
    throw refuse(`node "${nodeName}" can only create pods with an owner reference set to itself`);
  if (owner.controller !== true)
    throw refuse(`node "${nodeName}" can only create pods with a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion === true)
    throw refuse(`node "${nodeName}" must not set blockOwnerDeletion on an owner reference`);
  const node = store.get(`nodes/${nodeName}`);
  if (!node) throw refuse(`error looking up node "${nodeName}": node "${nodeName}" not found`);
  if (node.metadata.uid !== owner.uid)
    throw refuse(`node ${nodeName} UID mismatch: expected ${owner.uid} got ${node.metadata.uid}`);
  const refers = listAt(pod, 'spec.volumes').some((v) =>
    ['secret', 'configMap', 'persistentVolumeClaim', 'projected'].some((k) => v[k]),
  );
  if (refers || textAt(pod, 'spec.serviceAccountName'))
    throw refuse(
      `node "${nodeName}" can not create pods that reference secrets, configmaps, persistentvolumeclaims or a service account`,
    );
}

/** Source: admission plugin ServiceAccount. */
function serviceAccount(pod: KubeObject, { store }: Context): void {
  const spec = dictAt(pod, 'spec');
  const name = textAt(spec, 'serviceAccountName') || 'default';
  spec['serviceAccountName'] = spec['serviceAccount'] = name;
  const { namespace = '' } = pod.metadata;
  const account = store.get(`serviceaccounts/${namespace}/${name}`);
  if (!account)
    throw forbidden(
      PODS,
      pod.metadata.name ?? '',
      `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`,
    );
  if (!listAt(spec, 'imagePullSecrets').length && listAt(account, 'imagePullSecrets').length)
    spec['imagePullSecrets'] = account['imagePullSecrets'];
  if ((spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken']) === false) return;
  const containers = [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')];
  const without = containers.filter((c) => !listAt(c, 'volumeMounts').some((m) => m['mountPath'] === TOKEN_DIRECTORY));
  if (!without.length) return;
  const volume = `kube-api-access-${randomBytes(3).toString('hex').slice(0, 5)}`;
  for (const container of without)
    container['volumeMounts'] = [
      ...listAt(container, 'volumeMounts'),
      { name: volume, readOnly: true, mountPath: TOKEN_DIRECTORY },
    ];
  spec['volumes'] = [...listAt(spec, 'volumes'), { name: volume, projected: tokenVolume() }];
}

const tokenVolume = () => ({
  defaultMode: 0o644,
  sources: [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
    },
  ],
});

/** Source: admission plugin Priority. */
function priority(pod: KubeObject, { store }: Context): void {
  const spec = dictAt(pod, 'spec');
  const name = textAt(spec, 'priorityClassName');
  const found = name ? store.get(`scheduling.k8s.io/priorityclasses/${name}`) : undefined;
  if (name && !found) throw forbidden(PODS, pod.metadata.name ?? '', `no PriorityClass with name ${name} was found`);
  spec['priority'] = found?.['value'] ?? 0;
  spec['preemptionPolicy'] ??= found?.['preemptionPolicy'] ?? 'PreemptLowerPriority';
}

const required = (field: string): FieldProblem => ({ field, reason: 'FieldValueRequired', message: 'Required value' });

/** The few rules that a test's pod is likely to break. Source: pkg/apis/core/validation/validation.go. */
export function validatePod(pod: KubeObject): FieldProblem[] {
  const containers = listAt(pod, 'spec.containers');
  const problems: FieldProblem[] = containers.length ? [] : [required('spec.containers')];
  const names = new Set<unknown>();
  for (const list of ['initContainers', 'containers'])
    for (const [index, container] of listAt(pod, `spec.${list}`).entries()) {
      const path = `spec.${list}[${index}]`;
      if (!container['name']) problems.push(required(`${path}.name`));
      if (!container['image']) problems.push(required(`${path}.image`));
      if (names.has(container['name']))
        problems.push({
          field: `${path}.name`,
          reason: 'FieldValueInvalid',
          message: `Duplicate value: "${String(container['name'])}"`,
        });
      names.add(container['name']);
    }
  const policy = textAt(pod, 'spec.restartPolicy');
  if (!['Always', 'OnFailure', 'Never'].includes(policy))
    problems.push({
      field: 'spec.restartPolicy',
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: "${policy}": supported values: "Always", "OnFailure", "Never"`,
    });
  return problems;
}

/** What an update of a pod may change, by subresource. Source: validation.go:ValidatePodUpdate, ValidatePodStatusUpdate. */
export function preparePodUpdate(resource: Resource, next: KubeObject, current: KubeObject, subresource: string): void {
  defaultPod(next);
  if (subresource === 'status') {
    Object.assign(dictAt(next, 'status'), { qosClass: textAt(current, 'status.qosClass') });
    const problems = illegalTransitions(next, current);
    if (problems.length) throw invalid(resource, next.metadata.name ?? '', problems);
    return;
  }
  if (same(mutableAside(next, current, subresource), current['spec'])) return;
  const allowed =
    subresource === 'ephemeralcontainers'
      ? 'spec.ephemeralContainers'
      : 'fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  throw invalid(resource, next.metadata.name ?? '', [
    { field: 'spec', reason: 'FieldValueForbidden', message: `Forbidden: pod updates may not change ${allowed}` },
  ]);
}

/** The new spec with everything that may change set back. */
function mutableAside(next: KubeObject, current: KubeObject, subresource: string): Dict {
  const spec = structuredClone(dictAt(next, 'spec'));
  const old = dictAt(structuredClone(current), 'spec');
  const restore = (key: string) => {
    if (old[key] === undefined) delete spec[key];
    else spec[key] = old[key];
  };
  if (subresource === 'ephemeralcontainers') {
    restore('ephemeralContainers');
    return spec;
  }
  for (const list of ['containers', 'initContainers'])
    for (const [index, container] of listAt(spec, list).entries()) {
      const before = listAt(old, list)[index] ?? {};
      if (subresource === 'resize')
        Object.assign(container, { resources: before['resources'], resizePolicy: before['resizePolicy'] });
      else container['image'] = before['image'];
    }
  restore('activeDeadlineSeconds');
  if (listAt(old, 'tolerations').every((t) => listAt(spec, 'tolerations').some((s) => same(s, t))))
    restore('tolerations');
  if (Number(old['terminationGracePeriodSeconds']) < 0 && spec['terminationGracePeriodSeconds'] === 1)
    restore('terminationGracePeriodSeconds');
  return spec;
}

/** A terminated container that is not to be restarted stays terminated. Source: validation.go:ValidateContainerStateTransition. */
function illegalTransitions(next: KubeObject, current: KubeObject): FieldProblem[] {
  const policy = textAt(current, 'spec.restartPolicy');
  return ['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
    listAt(current, `status.${list}`).flatMap((old): FieldProblem[] => {
      const specs = listAt(current, `spec.${list === 'containerStatuses' ? 'containers' : 'initContainers'}`);
      const own =
        textAt(
          specs.find((c) => c['name'] === old['name']),
          'restartPolicy',
        ) || policy;
      const terminated = isDict(old['state']) ? old['state']['terminated'] : undefined;
      if (!isDict(terminated) || own === 'Always' || (own === 'OnFailure' && terminated['exitCode'] !== 0)) return [];
      if (list === 'initContainerStatuses' && policy === 'Always') return [];
      const statuses = listAt(next, `status.${list}`);
      const index = statuses.findIndex((s) => s['name'] === old['name']);
      const state = statuses[index]?.['state'];
      if (index < 0 || (isDict(state) && state['terminated'])) return [];
      return [
        {
          field: `status.${list}[${index}].state`,
          reason: 'FieldValueForbidden',
          message: 'Forbidden: may not be transitioned to non-terminated state',
        },
      ];
    }),
  );
}

/** Binds a pod to a node. Source: registry/core/pod/storage/storage.go:setPodNodeAndMetadata. */
export function bound(pod: KubeObject, nodeName: string, now: string): KubeObject {
  const name = pod.metadata.name ?? '';
  const conflict = (why: string) =>
    new ApiError(409, 'Conflict', `Operation cannot be fulfilled on pods/binding "${name}": ${why}`, {
      name,
      kind: 'pods/binding',
    });
  if (pod.metadata.deletionTimestamp) throw conflict(`pod ${name} is being deleted, cannot be assigned to a host`);
  const assigned = textAt(pod, 'spec.nodeName');
  if (assigned) throw conflict(`pod ${name} is already assigned to node "${assigned}"`);
  const status = dictAt(structuredClone(pod), 'status');
  const conditions = listAt(status, 'conditions').filter((c) => c['type'] !== 'PodScheduled');
  return {
    ...pod,
    spec: { ...dictAt(structuredClone(pod), 'spec'), nodeName },
    status: {
      ...status,
      conditions: [
        ...conditions,
        { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now },
      ],
    },
  };
}
