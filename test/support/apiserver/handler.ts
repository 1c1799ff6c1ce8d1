import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseYaml } from 'yaml';
import type { Call, ListOptions, Target } from './api.ts';
import type { Attributes } from './authorize.ts';
import { refusal } from './authorize.ts';
import type { DeleteOptions } from './deletion.ts';
import { VERSION, apiVersions, groupList, groupNamed, resourceList } from './discovery.ts';
import { ApiError, badRequest, forbidden } from './errors.ts';
import { asCoreV1 } from './events-view.ts';
import { isDict } from './objects.ts';
import type { Dict, KubeObject } from './objects.ts';
import { openapiDocument, openapiIndex } from './openapi.ts';
import { applyPatch } from './patch.ts';
import { decodeProtobuf } from './protobuf.ts';
import { apiVersion } from './resources.ts';
import { review } from './reviews.ts';
import type { Authenticate } from './reviews.ts';

import type { Route } from './route.ts';
import { bind, createSubresource } from './subresources.ts';
import type { ApiParts } from './subresources.ts';
import { table } from './table.ts';
import type { User } from './users.ts';

/** What the verbs read of a request: the simulated world asks without HTTP. */
export interface Question extends Route {
  message: Pick<IncomingMessage, 'headers'>;
  response: Pick<ServerResponse, 'setHeader'>;
  user: User;
  body: Buffer;
}

/** A request as it came over HTTP. */
export interface Request extends Question {
  message: IncomingMessage;
  response: ServerResponse;
}

/** Answers what is no resource: health, version, discovery, OpenAPI. */
export function answerPath(path: string, user: User, parts: ApiParts): Dict | string {
  const attributes = {
    verb: 'get',
    group: '',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    fieldSelector: '',
    path,
  };
  const why = refusal(user, attributes, parts.api.store);
  if (why !== undefined) throw new ApiError(403, 'Forbidden', `forbidden: ${why}`);
  const found = lookUp(path.replace(/\/$/, ''));
  if (found === undefined) throw new ApiError(404, 'NotFound', 'the server could not find the requested resource');
  return found;
}

function lookUp(path: string): Dict | string | undefined {
  const [first, second = '', third = ''] = path.split('/').slice(1);
  if (/^(healthz|livez|readyz)$/.test(first ?? '')) return 'ok';
  switch (path) {
    case '/version':
      return VERSION;
    case '/api':
      return apiVersions();
    case '/apis':
      return groupList();
    case '/openapi/v3':
      return openapiIndex();
  }
  if (path.startsWith('/openapi/v3/')) return openapiDocument(path.slice('/openapi/v3/'.length));
  if (first === 'api') return third ? undefined : resourceList('', second);
  if (first !== 'apis') return undefined;
  return third ? resourceList(second, third) : groupNamed(second);
}

/** Throws 403 when the user may not. */
export function authorize({ target, verb, user, query }: Route & { user: User }, { api }: ApiParts): void {
  const { resource, namespace, name, subresource } = target;
  const asked: Attributes = {
    verb,
    group: resource.group,
    resource: resource.plural,
    subresource,
    namespace,
    name,
    fieldSelector: query.get('fieldSelector') ?? '',
  };
  const why = refusal(user, asked, api.store);
  if (why !== undefined) throw forbidden(resource, name, why);
}

export const listOptions = (query: URLSearchParams): ListOptions => ({
  labelSelector: query.get('labelSelector') ?? '',
  fieldSelector: query.get('fieldSelector') ?? '',
  resourceVersion: query.get('resourceVersion') ?? '',
  limit: Number(query.get('limit') ?? 0),
  continueFrom: query.get('continue') ?? '',
});

/** Answers a verb on a resource; watches are answered by watch-response.ts. */
export function answerVerb(
  request: Question,
  parts: ApiParts,
  authenticate: Authenticate,
): { code: number; body: Dict } {
  const { target, verb, query, user } = request;
  const { api } = parts;
  const call: Call = {
    user,
    dryRun: query.get('dryRun') === 'All',
    strict: query.get('fieldValidation') === 'Strict',
    unknown: [],
  };
  const warned = (code: number, object: KubeObject) => {
    if (call.unknown.length && query.get('fieldValidation') !== 'Ignore')
      request.response.setHeader(
        'Warning',
        call.unknown.map((text) => `299 - ${JSON.stringify(text)}`),
      );
    return {
      code,
      body: shown(request, [object], { resourceVersion: object.metadata.resourceVersion }, api.now()) ?? object,
    };
  };
  switch (verb) {
    case 'get':
      return warned(200, api.get(target));
    case 'list':
      return { code: 200, body: list(request, parts) };
    case 'create':
      return create(request, parts, call, authenticate, warned);
    case 'update':
      return warned(
        200,
        api.update(target, 'put', () => bodyOf(request), call),
      );
    case 'patch': {
      const type = request.message.headers['content-type'] ?? '';
      return warned(
        200,
        api.update(
          target,
          'patch',
          (current) => applyPatch(current, request.body.toString(), type, target.resource.model),
          call,
        ),
      );
    }
    case 'delete': {
      const { object, gone } = api.delete(target, deleteOptions(request), call);
      return { code: 200, body: gone && target.resource.kind !== 'Pod' ? deleted(target, object) : object };
    }
    default: {
      const listed = api.list(target, listOptions(query));
      for (const { metadata } of listed.items)
        api.delete(
          { ...target, name: metadata.name ?? '', namespace: metadata.namespace ?? '' },
          deleteOptions(request),
          call,
        );
      return { code: 200, body: listBody(target, listed.items, { resourceVersion: listed.resourceVersion }) };
    }
  }
}

function create(
  request: Question,
  parts: ApiParts,
  call: Call,
  authenticate: Authenticate,
  warned: (code: number, object: KubeObject) => { code: number; body: Dict },
): { code: number; body: Dict } {
  const { target, user } = request;
  const body = bodyOf(request);
  if (target.subresource) return { code: 201, body: createSubresource(parts, target, body, call) };
  if (target.name)
    throw new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
  if (target.resource.plural === 'bindings') return { code: 201, body: bind(parts.api, target, body) };
  if (target.resource.kind.endsWith('Review'))
    return { code: 201, body: review(target.resource.kind, body, user, parts.api.store, authenticate) };
  return warned(201, parts.api.create(target, body, call));
}

function list(request: Question, { api }: ApiParts): Dict {
  const { items, resourceVersion, continueAt, remaining } = api.list(request.target, listOptions(request.query));
  const metadata = { resourceVersion, ...(continueAt && { continue: continueAt, remainingItemCount: remaining }) };
  return shown(request, items, metadata, api.now()) ?? listBody(request.target, items, metadata);
}

function listBody({ resource }: Target, items: readonly KubeObject[], metadata: Dict): Dict {
  return { kind: `${resource.kind}List`, apiVersion: apiVersion(resource), metadata, items };
}

/** The objects as a Table, where the client asks for one. */
export function shown(
  request: Question,
  items: readonly KubeObject[],
  metadata: Dict,
  now: number,
  header = true,
): Dict | undefined {
  if (!request.message.headers.accept?.includes('as=Table')) return undefined;
  const { resource } = request.target;
  const stored = resource.group === 'events.k8s.io' ? items.map(asCoreV1) : items;
  return table(resource.kind, stored, {
    now,
    include: request.query.get('includeObject') ?? 'Metadata',
    metadata,
    header,
  });
}

function deleted({ resource, name }: Target, { metadata }: KubeObject): Dict {
  const { group, plural } = resource;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group && { group }), kind: plural, uid: metadata.uid },
  };
}

function bodyOf({ body, message }: Question): Dict {
  const type = message.headers['content-type'] ?? 'application/json';
  if (type.includes('vnd.kubernetes.protobuf')) return decodeProtobuf(body);
  let parsed: unknown;
  try {
    parsed = type.includes('yaml') ? parseYaml(body.toString()) : JSON.parse(body.toString());
  } catch (error) {
    throw badRequest(`the object provided is unrecognized (${type}): ${String(error)}`);
  }
  if (!isDict(parsed)) throw badRequest('the object provided is unrecognized: an object is needed');
  return parsed;
}

/** DeleteOptions of the body, or of the query. */
function deleteOptions(request: Question): DeleteOptions {
  const grace = request.query.get('gracePeriodSeconds');
  const options: DeleteOptions = request.body.length ? bodyOf(request) : {};
  return grace === null ? options : { ...options, gracePeriodSeconds: Number(grace) };
}
