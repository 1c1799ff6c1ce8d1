import { ApiError, badRequest } from './errors.ts';
import { isDict, same } from './objects.ts';
import type { Dict } from './objects.ts';
import { strategicMerge } from './strategic-merge.ts';

/** The object after a patch of the given content type. 415 for types that this server does not know. */
export function applyPatch(object: Dict, body: string, contentType: string, type: string): Dict {
  const patch: unknown = parseBody(body);
  switch (contentType.split(';')[0]?.trim()) {
    case 'application/strategic-merge-patch+json':
      return strategicMerge(object, asDict(patch), type);
    case 'application/merge-patch+json':
      return mergePatch(object, asDict(patch));
    case 'application/json-patch+json':
      if (!Array.isArray(patch))
        throw badRequest('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
      return asDict(patch.reduce<unknown>(jsonPatchStep, structuredClone(object)));
    default:
      throw new ApiError(
        415,
        'UnsupportedMediaType',
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json',
      );
  }
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch (error) {
    throw badRequest(`error decoding patch: ${String(error)}`);
  }
}

function asDict(value: unknown): Dict {
  if (!isDict(value)) throw badRequest('error decoding patch: an object is needed');
  return value;
}

/** RFC 7386. */
function mergePatch(object: Dict, patch: Dict): Dict {
  const result = { ...object };
  for (const [key, value] of Object.entries(patch)) {
    const old = result[key];
    if (value === null) delete result[key];
    else result[key] = isDict(value) ? mergePatch(isDict(old) ? old : {}, value) : value;
  }
  return result;
}

const refused = (message: string) =>
  new ApiError(422, 'Invalid', `the server rejected our request due to an error in our request: ${message}`);

/** One operation of RFC 6902, done on the document in place. */
function jsonPatchStep(document: unknown, step: unknown): unknown {
  const { op, path, from, value } = asDict(step);
  if (typeof path !== 'string') throw badRequest('a JSON patch operation needs a path');
  switch (op) {
    case 'add':
      return put(document, path, value, true);
    case 'replace':
      find(document, path);
      return put(document, path, value, false);
    case 'remove':
      return take(document, path);
    case 'copy':
      return put(document, path, structuredClone(find(document, String(from))), true);
    case 'move': {
      const moved = find(document, String(from));
      return put(take(document, String(from)), path, moved, true);
    }
    case 'test':
      if (!same(find(document, path), value)) throw refused(`testing path ${path} failed`);
      return document;
    default:
      throw badRequest(`unknown JSON patch operation ${String(op)}`);
  }
}

const keysOf = (path: string) =>
  path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

function find(document: unknown, path: string): unknown {
  let here = document;
  for (const key of keysOf(path)) {
    here = Array.isArray(here) ? here[Number(key)] : isDict(here) ? here[key] : undefined;
    if (here === undefined) throw refused(`missing path ${path}`);
  }
  return here;
}

function parentOf(document: unknown, path: string): { parent: unknown; key: string } {
  const cut = path.lastIndexOf('/');
  return { parent: find(document, path.slice(0, cut)), key: keysOf(path).at(-1) ?? '' };
}

function put(document: unknown, path: string, value: unknown, insert: boolean): unknown {
  if (path === '') return value;
  const { parent, key } = parentOf(document, path);
  if (Array.isArray(parent)) {
    const index = key === '-' ? parent.length : Number(key);
    if (!(index >= 0 && index <= parent.length)) throw refused(`index out of bounds in ${path}`);
    parent.splice(index, insert ? 0 : 1, value);
  } else if (isDict(parent)) parent[key] = value;
  else throw refused(`missing path ${path}`);
  return document;
}

function take(document: unknown, path: string): unknown {
  find(document, path);
  const { parent, key } = parentOf(document, path);
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else if (isDict(parent)) delete parent[key];
  return document;
}
