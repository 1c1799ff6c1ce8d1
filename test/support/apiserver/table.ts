import { humanDuration } from './duration.ts';
import type { Dict, KubeObject } from './objects.ts';
import { at, isDict, listAt, textAt } from './objects.ts';
import { podCells } from './table-pod.ts';

type Cell = string | number;
type Column = readonly [name: string, cell: (object: KubeObject, now: number) => Cell, wide?: 'wide'];

const NONE = '<none>';
const UNSET = '<unknown>';
const name: Column = ['Name', (o) => o.metadata.name ?? ''];
const age: Column = ['Age', (o, now) => since(o.metadata.creationTimestamp, now)];

/** How long ago an RFC 3339 time is. */
export const since = (text: unknown, now: number) =>
  typeof text === 'string' && text ? humanDuration(now - Date.parse(text)) : UNSET;

const size = (key: string) => (o: KubeObject) => Object.keys(isDict(o[key]) ? o[key] : {}).length;
const text =
  (path: string, otherwise = NONE) =>
  (o: KubeObject): Cell =>
    textAt(o, path) || otherwise;

const nodeAddress = (type: string) => (o: KubeObject) =>
  textAt(
    listAt(o, 'status.addresses').find((a) => a['type'] === type),
    'address',
  ) || NONE;

function nodeStatus(node: KubeObject): string {
  const ready = listAt(node, 'status.conditions').find((c) => c['type'] === 'Ready');
  const status = ready ? (ready['status'] === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return at(node, 'spec.unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

function nodeRoles({ metadata: { labels = {} } }: KubeObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(labels)
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length));
  return [...roles, labels['kubernetes.io/role'] ?? ''].filter(Boolean).sort().join(',') || NONE;
}

/** When an event was last seen: its series', its own last, or its only time. */
function lastSeen(event: KubeObject, now: number): string {
  const series = textAt(event, 'series.lastObservedTime');
  return since(series || textAt(event, 'lastTimestamp') || textAt(event, 'eventTime'), now);
}

const eventCount = (e: KubeObject) => Number(at(e, 'series.count') ?? e['count'] ?? 1);

function csrCondition(csr: KubeObject): string {
  const types = listAt(csr, 'status.conditions').map((c) => String(c['type']));
  const decided = types.filter((t) => /^(Approved|Denied|Failed)$/.test(t)).join(',') || 'Pending';
  return textAt(csr, 'status.certificate') ? `${decided},Issued` : decided;
}

const podColumn = (index: number, title: string, wide?: 'wide'): Column => [
  title,
  (o, now) => podCells(o, now)[index] ?? '',
  wide,
];

/** Columns by kind. Source: k8s.io/kubernetes pkg/printers/internalversion/printers.go. */
const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  Pod: [
    name,
    podColumn(0, 'Ready'),
    podColumn(1, 'Status'),
    podColumn(2, 'Restarts'),
    age,
    ['IP', text('status.podIP'), 'wide'],
    ['Node', text('spec.nodeName'), 'wide'],
    ['Nominated Node', text('status.nominatedNodeName'), 'wide'],
    podColumn(3, 'Readiness Gates', 'wide'),
  ],
  Node: [
    name,
    ['Status', nodeStatus],
    ['Roles', nodeRoles],
    age,
    ['Version', text('status.nodeInfo.kubeletVersion', '')],
    ['Internal-IP', nodeAddress('InternalIP'), 'wide'],
    ['External-IP', nodeAddress('ExternalIP'), 'wide'],
    ['OS-Image', text('status.nodeInfo.osImage', UNSET), 'wide'],
    ['Kernel-Version', text('status.nodeInfo.kernelVersion', UNSET), 'wide'],
    ['Container-Runtime', text('status.nodeInfo.containerRuntimeVersion', UNSET), 'wide'],
  ],
  Namespace: [name, ['Status', text('status.phase', '')], age],
  Event: [
    ['Last Seen', lastSeen],
    ['Type', text('type', '')],
    ['Reason', text('reason', '')],
    ['Object', (e) => `${textAt(e, 'involvedObject.kind').toLowerCase()}/${textAt(e, 'involvedObject.name')}`],
    ['Subobject', text('involvedObject.fieldPath', ''), 'wide'],
    [
      'Source',
      (e) =>
        [textAt(e, 'source.component') || textAt(e, 'reportingComponent'), textAt(e, 'source.host')]
          .filter(Boolean)
          .join(', '),
      'wide',
    ],
    ['Message', (e) => textAt(e, 'message').trim()],
    ['First Seen', (e, now) => since(textAt(e, 'firstTimestamp') || textAt(e, 'eventTime'), now), 'wide'],
    ['Count', eventCount, 'wide'],
    ['Name', (e) => e.metadata.name ?? '', 'wide'],
  ],
  ConfigMap: [name, ['Data', (o) => size('data')(o) + size('binaryData')(o)], age],
  Secret: [name, ['Type', text('type', '')], ['Data', size('data')], age],
  ServiceAccount: [name, ['Secrets', (o) => listAt(o, 'secrets').length], age],
  Lease: [name, ['Holder', text('spec.holderIdentity', '')], age],
  Service: [
    name,
    ['Type', text('spec.type', '')],
    ['Cluster-IP', text('spec.clusterIP')],
    ['External-IP', () => NONE],
    [
      'Port(s)',
      (o) =>
        listAt(o, 'spec.ports')
          .map((p) => `${String(p['port'])}/${String(p['protocol'])}`)
          .join(',') || NONE,
    ],
    age,
  ],
  CertificateSigningRequest: [
    name,
    age,
    ['SignerName', text('spec.signerName', '')],
    ['Requestor', text('spec.username', '')],
    [
      'RequestedDuration',
      (o) =>
        typeof at(o, 'spec.expirationSeconds') === 'number'
          ? humanDuration(Number(at(o, 'spec.expirationSeconds')) * 1000)
          : NONE,
    ],
    ['Condition', csrCondition],
  ],
  RuntimeClass: [name, ['Handler', text('handler', '')], age],
  PriorityClass: [
    name,
    ['Value', (o) => Number(o['value'])],
    ['Global-Default', (o) => String(o['globalDefault'] ?? false)],
    age,
  ],
};

const DEFAULT: readonly Column[] = [name, ['Created At', text('metadata.creationTimestamp', UNSET)]];

/** `meta.k8s.io/v1 Table` of stored (core) objects; `shown` are the same objects as rows carry them. */
export function table(
  kind: string,
  stored: readonly KubeObject[],
  options: { now: number; include: string; metadata: Dict; header: boolean },
) {
  const columns = COLUMNS[kind] ?? DEFAULT;
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata,
    columnDefinitions: options.header
      ? columns.map(([title, , wide]) => ({
          name: title,
          type: 'string',
          format: title === 'Name' ? 'name' : '',
          description: '',
          priority: wide ? 1 : 0,
        }))
      : null,
    rows: stored.map((object) => ({
      cells: columns.map(([, cell]) => cell(object, options.now)),
      ...(options.include !== 'None' && {
        object:
          options.include === 'Object'
            ? object
            : { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
      }),
    })),
  };
}
