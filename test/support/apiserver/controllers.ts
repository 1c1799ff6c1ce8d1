import type { Api } from './api.ts';
import { ApiError } from './errors.ts';
import { at, dictAt, listAt, textAt, time } from './objects.ts';
import type { Dict, KubeObject } from './objects.ts';
import { bound } from './pod-strategy.ts';
import { RESOURCES, resourceNamed } from './resources.ts';
import type { Resource } from './resources.ts';
import type { Change } from './store.ts';
import { LOOPBACK } from './users.ts';

const call = () => ({ user: LOOPBACK, dryRun: false, strict: false, unknown: [] });
const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const CLASSES = { 'system-node-critical': 2_000_001_000, 'system-cluster-critical': 2_000_000_000 };

/** What a control plane makes for itself at its first start. */
export function bootstrap(api: Api): void {
  const create = (resource: Resource, body: Dict) =>
    api.create({ resource, namespace: '', name: '', subresource: '' }, body, call());
  for (const name of NAMESPACES) create(resourceNamed('namespaces'), { metadata: { name } });
  for (const [name, value] of Object.entries(CLASSES))
    create(resourceNamed('priorityclasses'), { metadata: { name }, value, preemptionPolicy: 'PreemptLowerPriority' });
}

/**
 * The controllers whose work a node would miss: the default service account and the CA's configMap of each namespace,
 * the end of namespaces, the not-ready taint, mirror pods and leases of Nodes that are gone.
 * With `schedule`, pods without a node go to the first that is ready, uncordoned and untainted; without one they are told so.
 * Each change is looked at after the call that made it. The answer ends them.
 */
export function runControllers(api: Api, authorityPem: string, options: { schedule: boolean }): () => void {
  const stop = api.store.watch('', 0, (change) => {
    setImmediate(() => {
      if (change.key.startsWith('namespaces/')) onNamespace(api, change, authorityPem);
      if (change.key.startsWith('nodes/')) onNode(api, change);
      if (options.schedule && /^(nodes|pods)\//.test(change.key)) schedule(api);
      const { namespace } = change.object.metadata;
      if (change.type === 'DELETED' && namespace) finishNamespace(api, namespace);
    });
  });
  return stop;
}

/** A call that may come too late: what it was about is gone or is there already. */
function attempt(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

function onNamespace(api: Api, { type, object }: Change, authorityPem: string): void {
  const namespace = object.metadata.name ?? '';
  if (type === 'DELETED') return;
  if (object.metadata.deletionTimestamp) {
    emptyNamespace(api, namespace);
    finishNamespace(api, namespace);
    return;
  }
  const make = (plural: string, body: Dict) =>
    attempt(() => api.create({ resource: resourceNamed(plural), namespace, name: '', subresource: '' }, body, call()));
  if (type !== 'ADDED') return;
  make('serviceaccounts', { metadata: { name: 'default' } });
  make('configmaps', { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': authorityPem } });
}

/** A scheduler that knows readiness, cordons and taints, and nothing of room, selectors and tolerations. */
function schedule(api: Api): void {
  const nodes = api.store.list('nodes/');
  const node = nodes.find(
    (n) =>
      isReady(n) &&
      at(n, 'spec.unschedulable') !== true &&
      !listAt(n, 'spec.taints').some((t) => t['effect'] !== 'PreferNoSchedule'),
  );
  for (const pod of api.store.list('pods/')) {
    const isDue =
      !textAt(pod, 'spec.nodeName') && !pod.metadata.deletionTimestamp && !listAt(pod, 'spec.schedulingGates').length;
    if (isDue && node) api.write(resourceNamed('pods'), bound(pod, node.metadata.name ?? '', time(api.now())));
    else if (isDue) tellUnschedulable(api, pod, nodes.length);
  }
}

/** Once. Source: pkg/scheduler/schedule_one.go:handleSchedulingFailure. */
function tellUnschedulable(api: Api, pod: KubeObject, nodes: number): void {
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: `0/${nodes} nodes are available`,
  };
  const status = dictAt(structuredClone(pod), 'status');
  const conditions = listAt(status, 'conditions');
  if (conditions.some((c) => c['type'] === 'PodScheduled' && c['status'] === 'False')) return;
  const told = { ...condition, lastProbeTime: null, lastTransitionTime: time(api.now()) };
  const others = conditions.filter((c) => c['type'] !== 'PodScheduled');
  api.write(resourceNamed('pods'), { ...pod, status: { ...status, conditions: [...others, told] } });
}

const isReady = (node: KubeObject) =>
  listAt(node, 'status.conditions').some((c) => c['type'] === 'Ready' && c['status'] === 'True');

const namespaced = () => [...new Map(RESOURCES.filter((r) => r.namespaced).map((r) => [r.storage, r])).values()];

function emptyNamespace(api: Api, namespace: string): void {
  for (const resource of namespaced())
    for (const object of api.store.list(`${resource.storage}/${namespace}/`))
      if (!object.metadata.deletionTimestamp)
        attempt(() =>
          api.delete({ resource, namespace, name: object.metadata.name ?? '', subresource: '' }, {}, call()),
        );
}

function finishNamespace(api: Api, namespace: string): void {
  const found = api.store.get(`namespaces/${namespace}`);
  if (!found?.metadata.deletionTimestamp) return;
  if (namespaced().some((resource) => api.store.list(`${resource.storage}/${namespace}/`).length)) return;
  api.store.remove(`namespaces/${namespace}`);
}

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

/** Taints follow the Ready condition and spec.unschedulable. Source: pkg/controller/nodelifecycle. */
function onNode(api: Api, { type, object }: Change): void {
  const name = object.metadata.name ?? '';
  if (type === 'DELETED') {
    forgetNode(api, object);
    return;
  }
  const node = api.store.get(`nodes/${name}`);
  if (!node || node.metadata.uid !== object.metadata.uid) return;
  const ready = isReady(node);
  const spec = dictAt(structuredClone(node), 'spec');
  const taints = listAt(spec, 'taints');
  const wanted = [...(ready ? [] : [NOT_READY]), ...(spec['unschedulable'] === true ? [UNSCHEDULABLE] : [])];
  const own = (t: Dict) => t['effect'] === 'NoSchedule' && (t['key'] === NOT_READY || t['key'] === UNSCHEDULABLE);
  const has = taints.filter(own).map((t) => String(t['key']));
  if (has.length === wanted.length && wanted.every((key) => has.includes(key))) return;
  const next = [...taints.filter((t) => !own(t)), ...wanted.map((key) => ({ key, effect: 'NoSchedule' }))];
  const { taints: _old, ...rest } = spec;
  api.write(resourceNamed('nodes'), { ...node, spec: next.length ? { ...rest, taints: next } : rest });
}

/** Objects that a Node owns go with it. Source: pkg/controller/garbagecollector. */
function forgetNode(api: Api, node: KubeObject): void {
  for (const plural of ['pods', 'leases']) {
    const resource = resourceNamed(plural);
    for (const object of api.store.list(`${resource.storage}/`))
      if (object.metadata.ownerReferences?.some((owner) => owner.uid === node.metadata.uid))
        attempt(() =>
          api.delete(
            { resource, namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '', subresource: '' },
            { preconditions: { uid: object.metadata.uid } },
            call(),
          ),
        );
  }
}

/** Approves a kubelet's certificate request, as the controller manager's approver does for nodes and bootstrap tokens. */
export function approve(api: Api, csr: KubeObject): KubeObject {
  const resource = resourceNamed('certificatesigningrequests');
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'AutoApproved',
    message: `Auto approving ${textAt(csr, 'spec.signerName')}`,
  };
  const { apiVersion: _v, kind: _k, ...rest } = csr;
  return api.write(resource, { ...(rest as KubeObject), status: { conditions: [condition] } });
}
