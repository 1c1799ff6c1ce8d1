import { fieldsOf, isScalar } from './schema.ts';
import type { Field } from './schema.ts';
import type { Dict } from './objects.ts';
import { RESOURCES, apiVersion } from './resources.ts';
import type { Resource } from './resources.ts';

/** Paths of `/openapi/v3`, one document a group version. */
export const openapiIndex = () => ({
  paths: Object.fromEntries(
    [...new Set(RESOURCES.map(root))].map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=1` }]),
  ),
});

const root = ({ group, version }: Resource) => (group ? `apis/${group}/${version}` : `api/${version}`);

/**
 * The OpenAPI v3 document of a group version (`api/v1`, `apis/policy/v1`), or undefined: enough for kubectl to learn
 * that field validation is done here (a `fieldValidation` parameter on PATCH) and how lists are merged.
 */
export function openapiDocument(path: string): Dict | undefined {
  const resources = RESOURCES.filter((r) => root(r) === path);
  if (!resources.length) return undefined;
  const schemas: Record<string, Dict> = {};
  for (const { model, group, version, kind } of resources) {
    collect(model, schemas);
    const schema = schemas[model];
    if (schema) schema['x-kubernetes-group-version-kind'] = [{ group, version, kind }];
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.0' },
    paths: Object.fromEntries(resources.map((r) => [urlOf(r), operations(r)])),
    components: { schemas },
  };
}

const urlOf = (r: Resource) => `/${root(r)}/${r.namespaced ? 'namespaces/{namespace}/' : ''}${r.plural}/{name}`;

function operations(resource: Resource): Dict {
  const { group, version, kind, model } = resource;
  const schema = { $ref: `#/components/schemas/${model}` };
  const gvk = { 'x-kubernetes-group-version-kind': { group, version, kind } };
  const content = { 'application/json': { schema } };
  return {
    get: { ...gvk, 'x-kubernetes-action': 'get', responses: { 200: { description: 'OK', content } } },
    patch: {
      ...gvk,
      'x-kubernetes-action': 'patch',
      parameters: [
        { name: 'dryRun', in: 'query', schema: { type: 'string' } },
        { name: 'fieldValidation', in: 'query', schema: { type: 'string' } },
      ],
      requestBody: {
        content: Object.fromEntries(
          ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json'].map(
            (type) => [type, { schema: { type: 'object' } }],
          ),
        ),
      },
      responses: { 200: { description: `OK: ${apiVersion(resource)}`, content } },
    },
  };
}

function collect(type: string, schemas: Record<string, Dict>): void {
  if (schemas[type]) return;
  const properties: Record<string, Dict> = {};
  schemas[type] = { type: 'object', properties };
  for (const field of fieldsOf(type).values()) {
    if (!isScalar(field.type)) collect(field.type, schemas);
    properties[field.name] = property(field);
  }
}

function property(field: Field): Dict {
  const one = scalar(field);
  if (field.shape === 'map') return { type: 'object', additionalProperties: one };
  if (field.shape === 'one') return isScalar(field.type) ? one : { default: {}, allOf: [one] };
  const merge = field.mergeKey !== undefined && {
    'x-kubernetes-patch-strategy': 'merge',
    ...(field.mergeKey && { 'x-kubernetes-patch-merge-key': field.mergeKey }),
  };
  return { type: 'array', items: one, ...merge };
}

function scalar({ type, format }: Field): Dict {
  switch (type) {
    case 'Date':
    case 'V1MicroTime':
      return { type: 'string', format: 'date-time' };
    case 'IntOrString':
    case 'number | string':
      return { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
    case 'any':
      return { type: 'object' };
    case 'number':
      return { type: format === 'double' ? 'number' : 'integer', ...(format && { format }) };
    case 'string':
    case 'boolean':
      return { type, ...(format && { format }) };
    default:
      return { $ref: `#/components/schemas/${type}` };
  }
}
