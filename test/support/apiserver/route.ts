import type { Target } from './api.ts';
import { ApiError } from './errors.ts';
import { findResource } from './resources.ts';

/** A request's address, taken apart. */
export interface Route {
  target: Target;
  verb: string;
  query: URLSearchParams;
}

const notServed = () => new ApiError(404, 'NotFound', 'the server could not find the requested resource');
const yes = (value: string | null) => value === 'true' || value === '1';

/**
 * Where a request goes: `/api/v1/...` and `/apis/<group>/<version>/...` with `namespaces/<ns>`, resource, name and
 * subresource. Undefined for what is no resource (discovery, health). Throws 404 for resources that are not served.
 */
export function route(method: string, url: URL): Route | undefined {
  const parts = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
  const core = parts[0] === 'api';
  if ((!core && parts[0] !== 'apis') || parts.length < (core ? 3 : 4)) return undefined;
  const [group = '', version = ''] = core ? ['', parts[1]] : [parts[1], parts[2]];
  const rest = parts.slice(core ? 2 : 3);
  const scoped = rest[0] === 'namespaces' && rest.length > 2 && findResource(group, version, rest[2] ?? '')?.namespaced;
  const namespace = scoped ? (rest[1] ?? '') : '';
  const [plural = '', name = '', subresource = '', ...more] = scoped ? rest.slice(2) : rest;
  const resource = findResource(group, version, plural);
  if (!resource || more.length) throw notServed();
  if (subresource && !(subresource in resource.subresources)) throw notServed();
  if (resource.namespaced && name && !namespace) throw notServed();
  const target: Target = { resource, namespace, name, subresource };
  return { target, verb: verbOf(method, name, url.searchParams), query: url.searchParams };
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  switch (method) {
    case 'GET':
      return name ? 'get' : yes(query.get('watch')) ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name ? 'delete' : 'deletecollection';
    default:
      throw new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
  }
}

export { yes as isTrue };
