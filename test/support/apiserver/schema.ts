import { readFileSync } from 'node:fs';
import { badRequest } from './errors.ts';
import { isDict } from './objects.ts';
import type { Dict } from './objects.ts';

/** A field as the API's OpenAPI document has it. */
export interface Field {
  name: string;
  /** A scalar (`string`, `number`, `boolean`, `Date`, `IntOrString`, `any`) or the name of another type. */
  type: string;
  format: string;
  shape: 'one' | 'list' | 'map';
  /** Key by which a strategic merge joins the list; '' for lists of scalars that merge; undefined: replaced whole. */
  mergeKey?: string;
}

/**
 * Lists that a strategic merge patch joins, by `Type.field` → merge key ('' for sets of scalars).
 * Source: the `patchMergeKey` tags of k8s.io/api/core/v1/types.go and apimachinery/meta/v1/types.go.
 */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  'V1ObjectMeta.finalizers': '',
  'V1ObjectMeta.ownerReferences': 'uid',
  'V1Container.env': 'name',
  'V1Container.ports': 'containerPort',
  'V1Container.volumeDevices': 'devicePath',
  'V1Container.volumeMounts': 'mountPath',
  'V1EphemeralContainer.env': 'name',
  'V1EphemeralContainer.ports': 'containerPort',
  'V1EphemeralContainer.volumeDevices': 'devicePath',
  'V1EphemeralContainer.volumeMounts': 'mountPath',
  'V1PodSpec.containers': 'name',
  'V1PodSpec.ephemeralContainers': 'name',
  'V1PodSpec.hostAliases': 'ip',
  'V1PodSpec.imagePullSecrets': 'name',
  'V1PodSpec.initContainers': 'name',
  'V1PodSpec.resourceClaims': 'name',
  'V1PodSpec.schedulingGates': 'name',
  'V1PodSpec.topologySpreadConstraints': 'topologyKey',
  'V1PodSpec.volumes': 'name',
  'V1PodStatus.conditions': 'type',
  'V1PodStatus.hostIPs': 'ip',
  'V1PodStatus.podIPs': 'ip',
  'V1PodStatus.resourceClaimStatuses': 'name',
  'V1NodeSpec.podCIDRs': '',
  'V1NodeStatus.addresses': 'type',
  'V1NodeStatus.conditions': 'type',
  'V1NamespaceStatus.conditions': 'type',
  'V1PersistentVolumeClaimStatus.conditions': 'type',
  'V1PodDisruptionBudgetStatus.conditions': 'type',
  'V1ServiceAccount.secrets': 'name',
  'V1ServiceSpec.ports': 'port',
  'V1ServiceStatus.conditions': 'type',
};

const MODELS = new URL('../../../node_modules/@kubernetes/client-node/dist/gen/models/', import.meta.url);
const SCALARS = new Set([
  'string',
  'number',
  'boolean',
  'Date',
  'V1MicroTime',
  'IntOrString',
  'any',
  'number | string',
]);
const known = new Map<string, Map<string, Field>>();

export const isScalar = (type: string) => SCALARS.has(type);

/**
 * The fields of a type, by name, read from the tables that `@kubernetes/client-node` (generated from the API's own
 * OpenAPI document) carries beside each model. The file is read as text: 900 models are not loaded for a table.
 */
export function fieldsOf(type: string): Map<string, Field> {
  const found = known.get(type);
  if (found) return found;
  const text = readFileSync(new URL(`${type}.js`, MODELS), 'utf8');
  const start = text.indexOf('attributeTypeMap = [') + 'attributeTypeMap = '.length;
  const rows = JSON.parse(text.slice(start, text.indexOf('];', start) + 1)) as {
    baseName: string;
    type: string;
    format: string;
  }[];
  const fields = new Map(rows.map((row) => [row.baseName, field(type, row.baseName, row.type, row.format)]));
  known.set(type, fields);
  return fields;
}

function field(owner: string, name: string, type: string, format: string): Field {
  const list = /^Array<(.+)>$/.exec(type);
  const map = /^\{ \[key: string\]: (.+); \}$/.exec(type);
  const mergeKey = MERGE_KEYS[`${owner}.${name}`];
  const shape = list ? 'list' : map ? 'map' : 'one';
  const inner = list?.[1] ?? map?.[1] ?? type;
  // Maps of lists (`extra` of users) are taken as they come.
  return {
    name,
    type: inner.startsWith('Array<') ? 'any' : inner,
    format,
    shape,
    ...(mergeKey !== undefined && { mergeKey }),
  };
}

const wrong = (path: string, value: unknown, type: string) =>
  badRequest(
    `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go struct field ${path} of type ${type}`,
  );

/** Strings that the API shows though they are empty; others are left out, as are empty lists and maps (Go's omitempty). */
const KEPT_EMPTY = new Set([
  'CoreV1Event.reportingComponent',
  'CoreV1Event.reportingInstance',
  'V1ContainerStatus.image',
  'V1ContainerStatus.imageID',
  'V1GRPCAction.service',
  'V1HostPathVolumeSource.type',
  'V1PersistentVolumeClaimSpec.storageClassName',
]);

function isLeftOut(type: string, { name, shape }: Field, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (value === '') return type !== 'V1NodeSystemInfo' && !KEPT_EMPTY.has(`${type}.${name}`);
  return (shape === 'list' || shape === 'map') && typeof value === 'object' && !Object.keys(value).length;
}

/**
 * The object as the API server's decoder sees it: fields that the type does not have are dropped and told in `unknown`
 * (dotted paths), nulls and what Go leaves out when empty are dropped, and a value of another JSON type is refused with 400.
 */
export function decode(type: string, value: unknown, path = '', unknown: string[] = []): Dict {
  if (!isDict(value)) throw wrong(path || type, value, type);
  const fields = fieldsOf(type);
  const result: Dict = {};
  for (const [name, inner] of Object.entries(value)) {
    const here = path ? `${path}.${name}` : name;
    const known = fields.get(name);
    if (!known) unknown.push(here);
    else if (!isLeftOut(type, known, inner)) result[name] = decodeField(known, inner, here, unknown);
  }
  return result;
}

function decodeField(field: Field, value: unknown, path: string, unknown: string[]): unknown {
  if (field.shape === 'list') {
    if (!Array.isArray(value)) throw wrong(path, value, `[]${field.type}`);
    return value.map((item, index) => decodeOne(field.type, item, `${path}[${index}]`, unknown));
  }
  if (field.shape === 'map') {
    if (!isDict(value)) throw wrong(path, value, `map[string]${field.type}`);
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== null)
        .map(([key, item]) => [key, decodeOne(field.type, item, `${path}.${key}`, unknown)]),
    );
  }
  return decodeOne(field.type, value, path, unknown);
}

function decodeOne(type: string, value: unknown, path: string, unknown: string[]): unknown {
  if (type === 'any') return value;
  if (!isScalar(type)) return decode(type, value, path, unknown);
  const fits =
    type === 'IntOrString' || type === 'number | string'
      ? typeof value === 'number' || typeof value === 'string'
      : typeof value === (isTime(type) ? 'string' : type) || (type === 'string' && isQuantity(path, value));
  if (!fits) throw wrong(path, value, isTime(type) ? 'Time' : type);
  if (isTime(type) && Number.isNaN(Date.parse(String(value))))
    throw badRequest(`parsing time "${String(value)}" as RFC 3339`);
  return type === 'string' ? String(value) : value;
}

/** Quantities are strings in the document, and numbers are taken for them. */
const isQuantity = (path: string, value: unknown) =>
  typeof value === 'number' && /(requests|limits|capacity|allocatable|sizeLimit|divisor|hard|overhead)\b/.test(path);

const isTime = (type: string) => type === 'Date' || type === 'V1MicroTime';
