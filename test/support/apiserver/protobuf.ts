import { BinaryReader } from '@bufbuild/protobuf/wire';
import { ApiError, badRequest } from './errors.ts';
import { time } from './objects.ts';
import type { Dict } from './objects.ts';

/** A field by its number: name, what it holds (a scalar or a message of this table), and whether it is a list or a map. */
type Entry = readonly [name: string, type: string, shape?: 'list' | 'map'];
type Message = Readonly<Record<number, Entry>>;

/**
 * The few messages that kubectl sends as protobuf (its typed clients' create and approve commands).
 * Source: the `generated.proto` files of k8s.io/api and k8s.io/apimachinery 1.36.
 */
const MESSAGES: Readonly<Record<string, Message>> = {
  Unknown: { 1: ['typeMeta', 'TypeMeta'], 2: ['raw', 'bytes'] },
  TypeMeta: { 1: ['apiVersion', 'string'], 2: ['kind', 'string'] },
  Time: { 1: ['seconds', 'int'] },
  ObjectMeta: {
    1: ['name', 'string'],
    2: ['generateName', 'string'],
    3: ['namespace', 'string'],
    5: ['uid', 'string'],
    6: ['resourceVersion', 'string'],
    11: ['labels', 'string', 'map'],
    12: ['annotations', 'string', 'map'],
    14: ['finalizers', 'string', 'list'],
  },
  Namespace: { 1: ['metadata', 'ObjectMeta'] },
  ConfigMap: {
    1: ['metadata', 'ObjectMeta'],
    2: ['data', 'string', 'map'],
    3: ['binaryData', 'bytes', 'map'],
    4: ['immutable', 'bool'],
  },
  Secret: {
    1: ['metadata', 'ObjectMeta'],
    2: ['data', 'bytes', 'map'],
    3: ['type', 'string'],
    4: ['stringData', 'string', 'map'],
    5: ['immutable', 'bool'],
  },
  LocalObjectReference: { 1: ['name', 'string'] },
  ServiceAccount: {
    1: ['metadata', 'ObjectMeta'],
    3: ['imagePullSecrets', 'LocalObjectReference', 'list'],
    4: ['automountServiceAccountToken', 'bool'],
  },
  PriorityClass: {
    1: ['metadata', 'ObjectMeta'],
    2: ['value', 'int'],
    3: ['globalDefault', 'bool'],
    4: ['description', 'string'],
    5: ['preemptionPolicy', 'string'],
  },
  TokenRequest: { 1: ['metadata', 'ObjectMeta'], 2: ['spec', 'TokenRequestSpec'] },
  TokenRequestSpec: {
    1: ['audiences', 'string', 'list'],
    3: ['boundObjectRef', 'BoundObjectReference'],
    4: ['expirationSeconds', 'int'],
  },
  BoundObjectReference: {
    1: ['kind', 'string'],
    2: ['apiVersion', 'string'],
    3: ['name', 'string'],
    4: ['uid', 'string'],
  },
  SelfSubjectReview: { 1: ['metadata', 'ObjectMeta'] },
  SelfSubjectAccessReview: { 1: ['metadata', 'ObjectMeta'], 2: ['spec', 'SelfSubjectAccessReviewSpec'] },
  SelfSubjectAccessReviewSpec: {
    1: ['resourceAttributes', 'ResourceAttributes'],
    2: ['nonResourceAttributes', 'NonResourceAttributes'],
  },
  ResourceAttributes: {
    1: ['namespace', 'string'],
    2: ['verb', 'string'],
    3: ['group', 'string'],
    4: ['version', 'string'],
    5: ['resource', 'string'],
    6: ['subresource', 'string'],
    7: ['name', 'string'],
  },
  NonResourceAttributes: { 1: ['path', 'string'], 2: ['verb', 'string'] },
  CertificateSigningRequest: { 1: ['metadata', 'ObjectMeta'], 3: ['status', 'CertificateSigningRequestStatus'] },
  CertificateSigningRequestStatus: { 1: ['conditions', 'CertificateSigningRequestCondition', 'list'] },
  CertificateSigningRequestCondition: {
    1: ['type', 'string'],
    2: ['reason', 'string'],
    3: ['message', 'string'],
    4: ['lastUpdateTime', 'Time'],
    5: ['lastTransitionTime', 'Time'],
    6: ['status', 'string'],
  },
};

const MAGIC = 'k8s\0';

/** An object that a client sent as `application/vnd.kubernetes.protobuf`. 415 for kinds that are not in the table. */
export function decodeProtobuf(body: Buffer): Dict {
  if (body.subarray(0, MAGIC.length).toString('latin1') !== MAGIC)
    throw badRequest('provided data does not appear to be a protobuf message');
  const { typeMeta, raw } = read('Unknown', body.subarray(MAGIC.length)) as {
    typeMeta: { apiVersion: string; kind: string };
    raw: string;
  };
  if (!MESSAGES[typeMeta.kind])
    throw new ApiError(
      415,
      'UnsupportedMediaType',
      `${typeMeta.kind} is not read from protobuf here: send application/json`,
    );
  return { ...typeMeta, ...read(typeMeta.kind, Buffer.from(raw, 'base64')) };
}

function read(type: string, bytes: Uint8Array): Dict {
  const message = MESSAGES[type] ?? {};
  const reader = new BinaryReader(bytes);
  const result: Dict = {};
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const entry = message[number];
    if (!entry) {
      reader.skip(wire, number);
      continue;
    }
    const [name, inner, shape] = entry;
    if (shape === 'list') result[name] = [...((result[name] as unknown[] | undefined) ?? []), value(inner, reader)];
    else if (shape === 'map') result[name] = { ...(result[name] as Dict | undefined), ...pair(inner, reader.bytes()) };
    else result[name] = value(inner, reader);
  }
  return result;
}

function pair(type: string, bytes: Uint8Array): Dict {
  const reader = new BinaryReader(bytes);
  let key = '';
  let held: unknown = '';
  while (reader.pos < reader.len) {
    const [number] = reader.tag();
    if (number === 1) key = reader.string();
    else held = value(type, reader);
  }
  return { [key]: held };
}

function value(type: string, reader: BinaryReader): unknown {
  switch (type) {
    case 'string':
      return reader.string();
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
    case 'bool':
      return reader.bool();
    case 'int':
      return Number(reader.int64());
    case 'Time':
      return time(Number(read('Time', reader.bytes())['seconds'] ?? 0) * 1000);
    default:
      return read(type, reader.bytes());
  }
}
