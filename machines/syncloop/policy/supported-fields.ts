import {
  boolean,
  each,
  id,
  integer,
  listOf,
  notEvenEmpty,
  notYet,
  object,
  oneOf,
  only,
  optionalPort,
  port,
  portOrName,
  quantity,
  string,
  stringMap,
  strings,
  unread,
} from './field-schema.ts';

/*
 * Every field of a pod that the API knows, by object: what it may hold where it is supported, `unread` where it means
 * nothing on a node, `notYet` where it would have to be obeyed and is not. A test compares these tables with the API's
 * own list of fields, so none is forgotten. A field that is in no table is a typing error.
 */

const seLinuxOptions = object({ level: string, role: string, type: string, user: string });
const seccompProfile = object(
  { type: oneOf('RuntimeDefault', 'Unconfined', 'Localhost'), localhostProfile: string },
  'type',
);
const identity = { runAsUser: id, runAsGroup: id, runAsNonRoot: boolean, seLinuxOptions, seccompProfile };

export const SECURITY_CONTEXT = object({
  ...identity,
  allowPrivilegeEscalation: boolean,
  capabilities: object({ add: strings, drop: strings }),
  privileged: boolean,
  procMount: oneOf('Default'),
  readOnlyRootFilesystem: boolean,
  ...each(notYet, 'appArmorProfile windowsOptions'),
});

export const POD_SECURITY_CONTEXT = object({
  ...identity,
  fsGroup: id,
  fsGroupChangePolicy: oneOf('Always', 'OnRootMismatch'),
  seLinuxChangePolicy: oneOf('Recursive'),
  supplementalGroups: listOf(id),
  supplementalGroupsPolicy: oneOf('Merge'),
  sysctls: listOf(object({ name: string, value: string }, 'name', 'value')),
  ...each(notYet, 'appArmorProfile windowsOptions'),
});

const amounts = object({ cpu: quantity, memory: quantity, 'ephemeral-storage': notYet });

export const RESOURCES = object({ limits: amounts, requests: amounts, claims: notYet });

const keyReference = object({ name: string, key: string, optional: boolean }, 'key');
const objectReference = object({ name: string, optional: boolean });
const fieldReference = object({ apiVersion: oneOf('', 'v1'), fieldPath: string }, 'fieldPath');
const resourceReference = object({ containerName: string, resource: string, divisor: quantity }, 'resource');

export const ENV_VAR_SOURCE = object({
  configMapKeyRef: keyReference,
  secretKeyRef: keyReference,
  fieldRef: fieldReference,
  resourceFieldRef: resourceReference,
  fileKeyRef: notEvenEmpty,
});

export const ENV_VAR = object({ name: string, value: string, valueFrom: ENV_VAR_SOURCE }, 'name');

export const ENV_FROM = object({ prefix: string, configMapRef: objectReference, secretRef: objectReference });

export const CONTAINER_PORT = object(
  { containerPort: port, hostIP: string, hostPort: optionalPort, name: string, protocol: oneOf('TCP', 'UDP', 'SCTP') },
  'containerPort',
);

export const VOLUME_MOUNT = object(
  {
    name: string,
    mountPath: string,
    mountPropagation: oneOf('None', 'HostToContainer', 'Bidirectional'),
    readOnly: boolean,
    recursiveReadOnly: oneOf('Disabled'),
    ...each(notYet, 'subPath subPathExpr'),
  },
  'name',
  'mountPath',
);

const header = object({ name: string, value: string }, 'name', 'value');
const seconds = (min: number) => integer(min, 2 ** 31 - 1);

export const PROBE = object({
  exec: object({ command: strings }),
  httpGet: object(
    { path: string, port: portOrName, host: string, scheme: oneOf('HTTP', 'HTTPS'), httpHeaders: listOf(header) },
    'port',
  ),
  tcpSocket: object({ port: portOrName, host: string }, 'port'),
  grpc: object({ port, service: string }, 'port'),
  initialDelaySeconds: seconds(0),
  ...each(seconds(1), 'timeoutSeconds periodSeconds successThreshold failureThreshold terminationGracePeriodSeconds'),
});

export const CONTAINER = object(
  {
    name: string,
    image: string,
    imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
    command: strings,
    args: strings,
    workingDir: string,
    env: listOf(ENV_VAR),
    envFrom: listOf(ENV_FROM),
    ports: listOf(CONTAINER_PORT),
    resources: RESOURCES,
    resizePolicy: listOf(object({ resourceName: string, restartPolicy: oneOf('NotRequired') })),
    restartPolicy: oneOf('Always', 'OnFailure', 'Never'),
    securityContext: SECURITY_CONTEXT,
    stdin: boolean,
    stdinOnce: boolean,
    tty: boolean,
    terminationMessagePath: string,
    terminationMessagePolicy: oneOf('File', 'FallbackToLogsOnError'),
    volumeMounts: listOf(VOLUME_MOUNT),
    ...each(PROBE, 'livenessProbe readinessProbe startupProbe'),
    ...each(notYet, 'lifecycle restartPolicyRules volumeDevices'),
  },
  'name',
  'image',
);

const HOST_PATH_TYPES = [
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
];

/** File modes are numbers, which YAML may write in octal. */
const fileMode = integer(0, 0o777);
const keyToPath = object({ key: string, path: string, mode: fileMode }, 'key', 'path');
const items = listOf(keyToPath);
const downwardItem = object(
  { path: string, mode: fileMode, fieldRef: fieldReference, resourceFieldRef: resourceReference },
  'path',
);

export const PROJECTION = object({
  configMap: object({ name: string, items, optional: boolean }),
  secret: object({ name: string, items, optional: boolean }),
  downwardAPI: object({ items: listOf(downwardItem) }),
  serviceAccountToken: object({ audience: string, expirationSeconds: integer(600, 2 ** 32), path: string }, 'path'),
  ...each(notEvenEmpty, 'clusterTrustBundle podCertificate'),
});

export const VOLUME = object(
  {
    name: string,
    emptyDir: object({ medium: oneOf('', 'Memory'), sizeLimit: quantity }),
    hostPath: object({ path: string, type: oneOf(...HOST_PATH_TYPES) }, 'path'),
    configMap: object({ name: string, items, optional: boolean, defaultMode: fileMode }),
    secret: object({ secretName: string, items, optional: boolean, defaultMode: fileMode }),
    downwardAPI: object({ items: listOf(downwardItem), defaultMode: fileMode }),
    projected: object({ sources: listOf(PROJECTION), defaultMode: fileMode }),
    ...each(
      notEvenEmpty,
      'awsElasticBlockStore azureDisk azureFile cephfs cinder csi ephemeral fc flexVolume ' +
        'flocker gcePersistentDisk gitRepo glusterfs image iscsi nfs persistentVolumeClaim photonPersistentDisk ' +
        'portworxVolume quobyte rbd scaleIO storageos vsphereVolume',
    ),
  },
  'name',
);

export const POD_SPEC = object(
  {
    containers: listOf(CONTAINER),
    initContainers: listOf(CONTAINER),
    volumes: listOf(VOLUME),
    restartPolicy: oneOf('Always', 'OnFailure', 'Never'),
    terminationGracePeriodSeconds: integer(0),
    activeDeadlineSeconds: integer(1, 2 ** 31 - 1),
    dnsPolicy: oneOf('ClusterFirst', 'ClusterFirstWithHostNet', 'Default'),
    hostname: string,
    ...each(boolean, 'hostNetwork hostPID hostIPC'),
    // What it asks for is done by the API server's admission, as a volume.
    automountServiceAccountToken: boolean,
    ...each(only(false), 'setHostnameAsFQDN shareProcessNamespace'),
    hostUsers: only(true),
    enableServiceLinks: boolean,
    securityContext: POD_SECURITY_CONTEXT,
    ...each(string, 'nodeName schedulerName preemptionPolicy priorityClassName serviceAccount serviceAccountName'),
    priority: integer(-(2 ** 31), 2 ** 31 - 1),
    os: object({ name: oneOf('linux') }, 'name'),
    nodeSelector: stringMap,
    readinessGates: listOf(object({ conditionType: string }, 'conditionType')),
    // Judged by admission; its form is the API server's matter.
    affinity: unread,
    ...each(unread, 'tolerations topologySpreadConstraints schedulingGates schedulingGroup'),
    ...each(
      notYet,
      'dnsConfig ephemeralContainers hostAliases hostnameOverride imagePullSecrets overhead ' +
        'resourceClaims resources runtimeClassName subdomain',
    ),
  },
  'containers',
);

export const METADATA = object({
  ...each(string, 'name namespace uid creationTimestamp deletionTimestamp generateName resourceVersion selfLink'),
  ...each(integer(0), 'deletionGracePeriodSeconds generation'),
  labels: stringMap,
  annotations: stringMap,
  finalizers: strings,
  ...each(unread, 'managedFields ownerReferences'),
});

/** A whole pod; its status is never read from where it was declared. */
export const POD = object(
  { apiVersion: oneOf('v1'), kind: oneOf('Pod'), metadata: METADATA, spec: POD_SPEC, status: unread },
  'metadata',
  'spec',
);
