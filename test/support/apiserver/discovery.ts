import { RESOURCES, apiVersion } from './resources.ts';
import type { Resource } from './resources.ts';

export const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-04-22T00:00:00Z',
  goVersion: 'go1.25.0',
  compiler: 'gc',
  platform: 'linux/amd64',
};

/** `/api`. */
export const apiVersions = () => ({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] });

const groupVersions = () => new Map(RESOURCES.filter((r) => r.group).map((r) => [r.group, r.version]));

function group(name: string, version: string) {
  const entry = { groupVersion: `${name}/${version}`, version };
  return { name, versions: [entry], preferredVersion: entry };
}

/** `/apis`. */
export const groupList = () => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: [...groupVersions()].map(([name, version]) => group(name, version)),
});

/** `/apis/<group>`, or undefined. */
export function groupNamed(name: string) {
  const version = groupVersions().get(name);
  return version && { kind: 'APIGroup', apiVersion: 'v1', ...group(name, version) };
}

/** `/api/v1` and `/apis/<group>/<version>`, or undefined. */
export function resourceList(name: string, version: string) {
  const resources = RESOURCES.filter((r) => r.group === name && r.version === version);
  if (!resources.length) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersion({ group: name, version }),
    resources: resources.flatMap(rows),
  };
}

function rows(resource: Resource) {
  const { plural, kind, namespaced, shortNames, verbs, subresources } = resource;
  return [
    {
      name: plural,
      singularName: kind.toLowerCase(),
      namespaced,
      kind,
      verbs,
      ...(shortNames.length && { shortNames }),
      ...(plural === 'pods' && { categories: ['all'] }),
    },
    ...Object.entries(subresources).map(([name, sub]) => ({
      name: `${plural}/${name}`,
      singularName: '',
      namespaced,
      group: sub.group,
      version: sub.version,
      kind: sub.kind,
      verbs: /^(binding|eviction|token)$/.test(name)
        ? ['create']
        : /^(exec|attach|portforward)$/.test(name)
          ? ['create', 'get']
          : name === 'log'
            ? ['get']
            : ['get', 'patch', 'update'],
    })),
  ];
}
