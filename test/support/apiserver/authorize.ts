import { listAt, textAt } from './objects.ts';
import type { KubeObject } from './objects.ts';
import type { Store } from './store.ts';
import { nodeNameOf } from './users.ts';
import type { User } from './users.ts';

/** What is asked for; `path` alone for what is no resource. */
export interface Attributes {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  fieldSelector: string;
  path?: string;
}

/** Verbs of role system:node that need no look at the object, by `group/resource[/subresource]`. */
const NODE_RULES: Readonly<Record<string, string>> = {
  'authentication.k8s.io/tokenreviews': 'create',
  'authorization.k8s.io/subjectaccessreviews': 'create',
  'authorization.k8s.io/selfsubjectaccessreviews': 'create',
  'authentication.k8s.io/selfsubjectreviews': 'create',
  '/services': 'get list watch',
  '/events': 'create patch update',
  'events.k8s.io/events': 'create patch update',
  'certificates.k8s.io/certificatesigningrequests': 'create get list watch',
  'node.k8s.io/runtimeclasses': 'get list watch',
  'storage.k8s.io/csidrivers': 'get list watch',
  'storage.k8s.io/volumeattachments': 'get',
  '/persistentvolumes': 'get',
  '/persistentvolumeclaims': 'get',
  '/pods/eviction': 'create',
};
const PUBLIC = /^\/(healthz|livez|readyz|version)(\/|$)/;
const DISCOVERY = /^\/(api|apis|openapi)(\/|$)/;

/**
 * Why the user may not, or undefined when allowed: everything for system:masters, the node authorizer for kubelets,
 * certificate requests for bootstrap tokens, discovery for all who are known. There is no RBAC.
 * Source: plugin/pkg/auth/authorizer/node/node_authorizer.go and the node part of plugin/pkg/admission/noderestriction.
 */
export function refusal(user: User, asked: Attributes, store: Store): string | undefined {
  if (user.groups.includes('system:masters')) return undefined;
  if (asked.path !== undefined) {
    const open =
      PUBLIC.test(asked.path) || (DISCOVERY.test(asked.path) && user.groups.includes('system:authenticated'));
    return open ? undefined : `User "${user.username}" cannot ${asked.verb} path "${asked.path}"`;
  }
  const nodeName = nodeNameOf(user);
  const why = nodeName === undefined ? (others(user, asked) ? undefined : '') : node(nodeName, asked, store);
  if (why === undefined) return undefined;
  const { verb, subresource, group, namespace } = asked;
  const resource = subresource ? `${asked.resource}/${subresource}` : asked.resource;
  const scope = namespace ? `in the namespace "${namespace}"` : 'at the cluster scope';
  return `User "${user.username}" cannot ${verb} resource "${resource}" in API group "${group}" ${scope}${why && `: ${why}`}`;
}

function others({ groups }: User, { group, resource, verb }: Attributes): boolean {
  if (!groups.includes('system:authenticated')) return false;
  if (/^self/.test(resource)) return true;
  const bootstrap = groups.includes('system:bootstrappers');
  return bootstrap && group === 'certificates.k8s.io' && /^(create|get|list|watch)$/.test(verb);
}

/** undefined: allowed; '' or words: not. */
function node(nodeName: string, asked: Attributes, store: Store): string | undefined {
  const { verb, group, resource, subresource, namespace, name } = asked;
  const key = `${group}/${resource}${subresource && `/${subresource}`}`;
  if (NODE_RULES[key]?.split(' ').includes(verb)) return undefined;
  switch (key) {
    case '/nodes':
    case '/nodes/status':
      if (verb === 'create') return undefined;
      if (/^(get|update|patch)$/.test(verb))
        return name === nodeName ? undefined : 'node can only access its own Node object';
      if (/^(list|watch)$/.test(verb) && !subresource)
        return selects(asked, 'metadata.name', nodeName) || name === nodeName
          ? undefined
          : 'can only read a single node by name';
      return '';
    case '/pods':
      if (verb === 'create') return undefined;
      if (/^(list|watch)$/.test(verb))
        return selects(asked, 'spec.nodeName', nodeName)
          ? undefined
          : `can only list/watch pods with spec.nodeName field selector`;
      return /^(get|delete)$/.test(verb) ? ownPod(nodeName, asked, store) : '';
    case '/pods/status':
      return /^(update|patch)$/.test(verb) ? ownPod(nodeName, asked, store) : '';
    case 'coordination.k8s.io/leases':
      if (namespace !== 'kube-node-lease') return `can only access leases in the "kube-node-lease" system namespace`;
      return verb === 'create' || name === nodeName
        ? undefined
        : `can only access node lease with the same name as the requesting node`;
    case 'storage.k8s.io/csinodes':
      return verb === 'create' || name === nodeName
        ? undefined
        : 'can only access CSINode with the same name as the requesting node';
    case '/secrets':
    case '/configmaps':
      return referred(nodeName, asked, store);
    case '/serviceaccounts':
    case '/serviceaccounts/token':
      if (verb !== (subresource ? 'create' : 'get')) return '';
      return podsOf(nodeName, store).some(
        (p) => p.metadata.namespace === namespace && textAt(p, 'spec.serviceAccountName') === name,
      )
        ? undefined
        : `no relationship found between node '${nodeName}' and this object`;
    default:
      return '';
  }
}

const selects = ({ fieldSelector }: Attributes, field: string, value: string) =>
  fieldSelector.split(',').some((part) => part.replace('==', '=') === `${field}=${value}`);

const podsOf = (nodeName: string, store: Store) =>
  store.list('pods/').filter((pod) => textAt(pod, 'spec.nodeName') === nodeName);

function ownPod(nodeName: string, { namespace, name }: Attributes, store: Store): string | undefined {
  const pod = store.get(`pods/${namespace}/${name}`);
  if (!pod || textAt(pod, 'spec.nodeName') === nodeName) return undefined;
  return `node "${nodeName}" can only access pods with spec.nodeName set to itself`;
}

/** Secrets and configMaps one by one, if a pod of the node names them. */
function referred(nodeName: string, asked: Attributes, store: Store): string | undefined {
  const { verb, resource, namespace } = asked;
  const name = asked.name || (/metadata\.name==?([^,]+)/.exec(asked.fieldSelector)?.[1] ?? '');
  if (!/^(get|list|watch)$/.test(verb)) return '';
  if (!name) return `can only read namespaced object of this type by name`;
  const named = podsOf(nodeName, store).some(
    (pod) => pod.metadata.namespace === namespace && namesOf(pod, resource, store).has(name),
  );
  return named ? undefined : `no relationship found between node '${nodeName}' and this object`;
}

/** Names of the secrets or configMaps that a pod uses. */
function namesOf(pod: KubeObject, resource: string, store: Store): Set<string> {
  const [volume, ref, keyRef, nameKey] =
    resource === 'secrets'
      ? ['secret', 'secretRef', 'secretKeyRef', 'secretName']
      : ['configMap', 'configMapRef', 'configMapKeyRef', 'name'];
  const names: string[] = [];
  for (const v of listAt(pod, 'spec.volumes')) {
    names.push(
      textAt(v, `${volume}.${nameKey}`),
      ...listAt(v, 'projected.sources').map((s) => textAt(s, `${volume}.name`)),
    );
    if (resource === 'secrets')
      names.push(...['csi.nodePublishSecretRef.name', 'iscsi.secretRef.name'].map((path) => textAt(v, path)));
  }
  for (const container of ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
    listAt(pod, `spec.${list}`),
  ))
    names.push(
      ...listAt(container, 'env').map((e) => textAt(e, `valueFrom.${keyRef}.name`)),
      ...listAt(container, 'envFrom').map((e) => textAt(e, `${ref}.name`)),
    );
  if (resource === 'secrets') {
    const account = store.get(`serviceaccounts/${pod.metadata.namespace}/${textAt(pod, 'spec.serviceAccountName')}`);
    names.push(
      ...listAt(pod, 'spec.imagePullSecrets').map((s) => textAt(s, 'name')),
      ...listAt(account, 'imagePullSecrets').map((s) => textAt(s, 'name')),
    );
  }
  return new Set(names);
}
