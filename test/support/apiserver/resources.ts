/** A resource that this server has. Served under /api/v1 (group '') or /apis/<group>/<version>. */
export interface Resource {
  group: string;
  version: string;
  plural: string;
  kind: string;
  /** Name of its type in the schema. */
  model: string;
  namespaced: boolean;
  shortNames: readonly string[];
  /** Subresources with their kinds. */
  subresources: Readonly<Record<string, Kind>>;
  /** Beyond metadata.name and metadata.namespace. */
  fieldLabels: readonly string[];
  /** PUT without a resourceVersion is taken. */
  unconditionalUpdate: boolean;
  /** Resources that share a key are views of the same stored objects. */
  storage: string;
  verbs: readonly string[];
}

interface Kind {
  group: string;
  version: string;
  kind: string;
  model: string;
}

const ALL = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

const kind = (group: string, version: string, name: string, model: string): Kind => ({
  group,
  version,
  kind: name,
  model,
});
const EVICTION = kind('policy', 'v1', 'Eviction', 'V1Eviction');
const TOKEN = kind('authentication.k8s.io', 'v1', 'TokenRequest', 'AuthenticationV1TokenRequest');
const BINDING = kind('', 'v1', 'Binding', 'V1Binding');
const POD_OPTIONS = (name: string) => kind('', 'v1', name, 'V1Pod');

type Row = Partial<Omit<Resource, 'subresources'>> &
  Pick<Resource, 'plural' | 'kind'> & { status?: true; subresources?: Record<string, Kind> };

function resource(group: string, version: string, row: Row): Resource {
  const { status, ...rest } = row;
  const model = row.model ?? `V1${row.kind}`;
  return {
    group,
    version,
    namespaced: true,
    shortNames: [],
    fieldLabels: [],
    unconditionalUpdate: true,
    storage: group ? `${group}/${row.plural}` : row.plural,
    verbs: ALL,
    ...rest,
    model,
    subresources: { ...(status && { status: kind(group, version, row.kind, model) }), ...row.subresources },
  };
}

const EVENT_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

const core: Row[] = [
  { plural: 'bindings', kind: 'Binding', verbs: ['create'] },
  { plural: 'configmaps', kind: 'ConfigMap', shortNames: ['cm'] },
  { plural: 'endpoints', kind: 'Endpoints', shortNames: ['ep'] },
  {
    plural: 'events',
    kind: 'Event',
    model: 'CoreV1Event',
    shortNames: ['ev'],
    fieldLabels: [...EVENT_FIELDS.map((f) => `involvedObject.${f}`), 'reason', 'reportingComponent', 'source', 'type'],
  },
  { plural: 'limitranges', kind: 'LimitRange', shortNames: ['limits'] },
  {
    plural: 'namespaces',
    kind: 'Namespace',
    shortNames: ['ns'],
    namespaced: false,
    status: true,
    fieldLabels: ['status.phase'],
  },
  {
    plural: 'nodes',
    kind: 'Node',
    shortNames: ['no'],
    namespaced: false,
    status: true,
    fieldLabels: ['spec.unschedulable'],
  },
  { plural: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', shortNames: ['pvc'], status: true },
  { plural: 'persistentvolumes', kind: 'PersistentVolume', shortNames: ['pv'], namespaced: false, status: true },
  {
    plural: 'pods',
    kind: 'Pod',
    shortNames: ['po'],
    status: true,
    fieldLabels: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ],
    subresources: {
      binding: BINDING,
      ephemeralcontainers: kind('', 'v1', 'Pod', 'V1Pod'),
      eviction: EVICTION,
      log: POD_OPTIONS('Pod'),
      exec: POD_OPTIONS('PodExecOptions'),
      attach: POD_OPTIONS('PodAttachOptions'),
      portforward: POD_OPTIONS('PodPortForwardOptions'),
      resize: kind('', 'v1', 'Pod', 'V1Pod'),
    },
  },
  { plural: 'replicationcontrollers', kind: 'ReplicationController', shortNames: ['rc'] },
  { plural: 'resourcequotas', kind: 'ResourceQuota', shortNames: ['quota'], status: true },
  { plural: 'secrets', kind: 'Secret', fieldLabels: ['type'] },
  { plural: 'serviceaccounts', kind: 'ServiceAccount', shortNames: ['sa'], subresources: { token: TOKEN } },
  {
    plural: 'services',
    kind: 'Service',
    shortNames: ['svc'],
    status: true,
    fieldLabels: ['spec.clusterIP', 'spec.type'],
  },
];

const review = (plural: string, name: string, model = `V1${name}`): Row => ({
  plural,
  kind: name,
  model,
  namespaced: false,
  verbs: ['create'],
});

/** Every resource, in the order of discovery. Source: the API reference of Kubernetes 1.36, the part that a node meets. */
export const RESOURCES: readonly Resource[] = [
  ...core.map((row) => resource('', 'v1', row)),
  ...([review('tokenreviews', 'TokenReview'), review('selfsubjectreviews', 'SelfSubjectReview')] satisfies Row[]).map(
    (row) => resource('authentication.k8s.io', 'v1', row),
  ),
  ...(
    [
      review('selfsubjectaccessreviews', 'SelfSubjectAccessReview'),
      review('subjectaccessreviews', 'SubjectAccessReview'),
    ] satisfies Row[]
  ).map((row) => resource('authorization.k8s.io', 'v1', row)),
  resource('apps', 'v1', { plural: 'daemonsets', kind: 'DaemonSet', shortNames: ['ds'], status: true }),
  resource('apps', 'v1', { plural: 'deployments', kind: 'Deployment', shortNames: ['deploy'], status: true }),
  resource('apps', 'v1', { plural: 'replicasets', kind: 'ReplicaSet', shortNames: ['rs'], status: true }),
  resource('batch', 'v1', { plural: 'jobs', kind: 'Job', status: true }),
  resource('certificates.k8s.io', 'v1', {
    plural: 'certificatesigningrequests',
    kind: 'CertificateSigningRequest',
    shortNames: ['csr'],
    namespaced: false,
    status: true,
    fieldLabels: ['spec.signerName'],
    subresources: {
      approval: kind('certificates.k8s.io', 'v1', 'CertificateSigningRequest', 'V1CertificateSigningRequest'),
    },
  }),
  resource('coordination.k8s.io', 'v1', { plural: 'leases', kind: 'Lease', unconditionalUpdate: false }),
  resource('events.k8s.io', 'v1', {
    plural: 'events',
    kind: 'Event',
    model: 'EventsV1Event',
    shortNames: ['ev'],
    storage: 'events',
    fieldLabels: [...EVENT_FIELDS.map((f) => `regarding.${f}`), 'reason', 'reportingController', 'type'],
  }),
  resource('node.k8s.io', 'v1', { plural: 'runtimeclasses', kind: 'RuntimeClass', namespaced: false }),
  resource('policy', 'v1', {
    plural: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    shortNames: ['pdb'],
    status: true,
  }),
  resource('scheduling.k8s.io', 'v1', {
    plural: 'priorityclasses',
    kind: 'PriorityClass',
    shortNames: ['pc'],
    namespaced: false,
  }),
  resource('storage.k8s.io', 'v1', { plural: 'csidrivers', kind: 'CSIDriver', namespaced: false }),
  resource('storage.k8s.io', 'v1', { plural: 'csinodes', kind: 'CSINode', namespaced: false }),
  resource('storage.k8s.io', 'v1', {
    plural: 'volumeattachments',
    kind: 'VolumeAttachment',
    namespaced: false,
    status: true,
  }),
];

/** The resource of a request's path, or undefined when this server has none. */
export const findResource = (group: string, version: string, plural: string) =>
  RESOURCES.find((r) => r.group === group && r.version === version && r.plural === plural);

/** The resource that stores the objects of a plural, for code inside the server. */
export function resourceNamed(plural: string): Resource {
  const found = RESOURCES.find((r) => r.plural === plural);
  if (!found) throw new Error(`no resource ${plural}`);
  return found;
}

export const apiVersion = ({ group, version }: { group: string; version: string }) =>
  group ? `${group}/${version}` : version;
