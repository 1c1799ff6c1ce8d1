import { randomBytes, randomUUID } from 'node:crypto';
import { graceful } from './deletion.ts';
import type { DeleteOptions } from './deletion.ts';
import { ApiError, alreadyExists, badRequest, conflict, expired, invalid, notFound } from './errors.ts';
import { asCoreV1, asEventsV1 } from './events-view.ts';
import { isDict, same, time } from './objects.ts';
import type { Dict, KubeObject } from './objects.ts';
import { apiVersion, resourceNamed } from './resources.ts';
import type { Resource } from './resources.ts';
import { decode } from './schema.ts';
import { fieldSelector, labelSelector } from './selectors.ts';
import type { Match } from './selectors.ts';
import { Store } from './store.ts';
import { admitNamespace, hasGeneration, prepareCreate, prepareUpdate } from './strategies.ts';
import type { User } from './users.ts';

/** The object that a call is about. `namespace` is '' for cluster-wide resources, and for all namespaces in list and watch. */
export interface Target {
  resource: Resource;
  namespace: string;
  name: string;
  subresource: string;
}

export interface Call {
  user: User;
  dryRun: boolean;
  /** Fields that the type does not have are refused; else they are dropped and named in `unknown`. */
  strict: boolean;
  unknown: string[];
}

export interface ListOptions {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  limit?: number;
  continueFrom?: string;
}

export interface Listed {
  items: KubeObject[];
  resourceVersion: string;
  continueAt?: string;
  remaining?: number;
}

/**
 * The API without HTTP: verbs over a store with the semantics of k8s.io/apiserver's generic registry. `now` is the
 * server's clock, ms; `newUid` makes the UIDs. What it answers belongs to the store and must not be written to.
 */
export class Api {
  readonly store = new Store();
  readonly now: () => number;
  readonly #newUid: () => string;

  constructor(now: () => number, newUid: () => string = randomUUID) {
    this.now = now;
    this.#newUid = newUid;
  }

  static key({ resource, namespace, name }: Omit<Target, 'subresource'>): string {
    return `${resource.storage}/${resource.namespaced ? `${namespace}/` : ''}${name}`;
  }

  get(target: Target): KubeObject {
    return view(target.resource, this.#find(target));
  }

  list(target: Target, options: ListOptions): Listed {
    const { resource } = target;
    const asked = Number(options.resourceVersion || 0);
    if (asked > this.store.revision)
      throw new ApiError(504, 'Timeout', `Too large resource version: ${asked}, current: ${this.store.revision}`, {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      });
    const match = this.matcher(resource, options);
    const from = options.continueFrom ? this.#continued(options.continueFrom) : undefined;
    const all = this.store.list(this.prefix(target)).filter(match);
    const rest = from ? all.filter((o) => keyOf(resource, o) > from.after) : all;
    const items = rest.slice(0, options.limit || rest.length);
    const last = items.at(-1);
    const resourceVersion = String(from?.revision ?? this.store.revision);
    return {
      items: items.map((object) => view(resource, object)),
      resourceVersion,
      ...(last &&
        rest.length > items.length && {
          continueAt: Buffer.from(
            JSON.stringify({ revision: Number(resourceVersion), after: keyOf(resource, last) }),
          ).toString('base64url'),
          remaining: rest.length - items.length,
        }),
    };
  }

  /** Key prefix of everything that a list or watch of the target sees. */
  prefix({ resource, namespace }: Target): string {
    return `${resource.storage}/${namespace && `${namespace}/`}`;
  }

  /** Whether a stored object is selected. */
  matcher(resource: Resource, options: ListOptions): Match {
    const labels = labelSelector(options.labelSelector ?? '');
    const fields = fieldSelector(options.fieldSelector ?? '', resource.fieldLabels);
    return (object) => labels(object) && fields(view(resource, object));
  }

  create(target: Target, body: Dict, call: Call): KubeObject {
    const { resource, namespace } = target;
    const object = this.#received(resource, body, call);
    const { metadata } = object;
    if (namespace && metadata.namespace && metadata.namespace !== namespace)
      throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
    if (!metadata.name && metadata.generateName)
      metadata.name = metadata.generateName + randomBytes(4).toString('hex').slice(0, 5);
    if (resource.namespaced) {
      metadata.namespace = namespace;
      admitNamespace(resource, object, this.#namespace(namespace));
    } else delete metadata.namespace;
    if (metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created');
    for (const owned of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'] as const)
      delete metadata[owned];
    metadata.uid = this.#newUid();
    metadata.creationTimestamp = time(this.now());
    prepareCreate(resource, object, { now: this.now(), user: call.user, store: this.store });
    const key = keyOf(resource, object);
    if (this.store.get(key)) throw alreadyExists(resource, metadata.name ?? '');
    return view(resource, call.dryRun ? object : this.store.put(key, object));
  }

  /**
   * PUT and PATCH (`how`): `change` is given a copy of the object as the client's version shows it. An update that changes
   * nothing writes nothing. The last finalizer's end ends an object that is being deleted.
   */
  update(target: Target, how: 'put' | 'patch', change: (current: KubeObject) => Dict, call: Call): KubeObject {
    const { resource, name, subresource } = target;
    const current = this.#find(target);
    const next = this.#received(resource, change(structuredClone(view(resource, current))), call);
    const { metadata } = next;
    if (metadata.name && metadata.name !== name)
      throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
    if (metadata.uid && metadata.uid !== current.metadata.uid && how === 'patch')
      throw invalid(resource, name, [
        {
          field: 'metadata.uid',
          reason: 'FieldValueInvalid',
          message: `Invalid value: "${metadata.uid}": field is immutable`,
        },
      ]);
    if (metadata.uid && metadata.uid !== current.metadata.uid)
      throw conflict(
        resource,
        name,
        `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${current.metadata.uid}`,
      );
    if (metadata.resourceVersion && metadata.resourceVersion !== current.metadata.resourceVersion)
      throw conflict(
        resource,
        name,
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    if (!metadata.resourceVersion && !resource.unconditionalUpdate)
      throw invalid(resource, name, [
        {
          field: 'metadata.resourceVersion',
          reason: 'FieldValueInvalid',
          message: 'Invalid value: 0x0: must be specified for an update',
        },
      ]);
    Object.assign(metadata, ownedMetadata(current));
    prepareUpdate(resource, next, current, subresource);
    if (hasGeneration(resource) && !same(next['spec'], current['spec']))
      metadata.generation = (current.metadata.generation ?? 0) + 1;
    if (same(next, current)) return view(resource, current);
    if (call.dryRun) return view(resource, next);
    const key = keyOf(resource, current);
    const stored = this.store.put(key, next);
    const ended =
      metadata.deletionTimestamp && !metadata.finalizers?.length && metadata.deletionGracePeriodSeconds === 0;
    if (ended) this.store.remove(key);
    return view(resource, stored);
  }

  /** Deletes, or marks as being deleted. `gone` says which. */
  delete(target: Target, options: DeleteOptions, call: Call): { object: KubeObject; gone: boolean } {
    const { resource, name } = target;
    const current = this.#find(target);
    const { uid, resourceVersion } = options.preconditions ?? {};
    if (uid !== undefined && uid !== current.metadata.uid)
      throw conflict(
        resource,
        name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`,
      );
    if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion)
      throw conflict(
        resource,
        name,
        `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${current.metadata.resourceVersion}`,
      );
    const { marked, gone } = graceful(resource, current, options, this.now());
    if (call.dryRun) return { object: view(resource, marked), gone };
    const key = keyOf(resource, current);
    const stored = marked === current ? current : this.store.put(key, marked);
    if (!gone) return { object: view(resource, stored), gone };
    return { object: view(resource, this.store.remove(key) ?? stored), gone };
  }

  /** Writes without admission: for the server's own parts (binding, controllers, approval). */
  write(resource: Resource, object: KubeObject): KubeObject {
    return this.store.put(keyOf(resource, object), object);
  }

  #find(target: Target): KubeObject {
    const found = this.store.get(Api.key(target));
    if (!found) throw notFound(target.resource, target.name);
    return found;
  }

  #namespace(name: string): KubeObject {
    const resource = resourceNamed('namespaces');
    return this.#find({ resource, namespace: '', name, subresource: '' });
  }

  /** The body as an object of the resource, in the form that is stored. */
  #received(resource: Resource, body: Dict, call: Call): KubeObject {
    const version = apiVersion(resource);
    if (body['kind'] !== undefined && body['kind'] !== resource.kind)
      throw badRequest(
        `${String(body['kind'])} in version "${String(body['apiVersion'])}" cannot be handled as a ${resource.kind}`,
      );
    if (body['apiVersion'] !== undefined && body['apiVersion'] !== version)
      throw badRequest(
        `the API version in the data (${String(body['apiVersion'])}) does not match the expected API version (${version})`,
      );
    const unknown: string[] = [];
    const decoded = decode(resource.model, body, '', unknown);
    const told = unknown.map((path) => `unknown field "${path}"`);
    if (call.strict && told.length) throw badRequest(`strict decoding error: ${told.join(', ')}`);
    call.unknown.push(...told);
    const metadata = isDict(decoded['metadata']) ? decoded['metadata'] : {};
    delete metadata['managedFields'];
    delete metadata['selfLink'];
    const { apiVersion: _version, kind: _kind, ...rest } = decoded;
    const object: KubeObject = { ...rest, metadata };
    return resource.group === 'events.k8s.io' ? asCoreV1(object) : object;
  }

  #continued(token: string): { revision: number; after: string } {
    const { revision, after } = JSON.parse(Buffer.from(token, 'base64url').toString()) as {
      revision: number;
      after: string;
    };
    if (revision < this.store.compacted)
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter',
      );
    return { revision, after };
  }
}

const keyOf = (resource: Resource, { metadata: { namespace = '', name = '' } }: KubeObject) =>
  Api.key({ resource, namespace, name });

/** Metadata that only the server writes. */
const OWNED = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'resourceVersion',
] as const;
const ownedMetadata = ({ metadata }: KubeObject) =>
  Object.fromEntries(
    OWNED.map((field) => [field, metadata[field]] as const).filter(([, value]) => value !== undefined),
  );

/** A stored object as the resource's version shows it. */
export function view(resource: Resource, stored: KubeObject): KubeObject {
  const { metadata, ...rest } = resource.group === 'events.k8s.io' ? asEventsV1(stored) : stored;
  return { apiVersion: apiVersion(resource), kind: resource.kind, metadata, ...rest };
}
