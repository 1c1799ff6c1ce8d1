import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../machines/kubernetes.types.ts';
import type { ConfigObject } from '../../../machines/pod/objects.types.ts';
import { tokenIsValid, tokenRefreshIn } from '../../../machines/pod/policy/token-refresh.ts';
import { usedVolumes, volumesShowing } from '../../../machines/pod/policy/used-volumes.ts';
import { volumeFiles, type ContentView } from '../../../machines/pod/policy/volume-content.ts';
import { container, pod } from './fixtures.ts';

const objects: Record<string, ConfigObject> = {
  'ConfigMap/c': { data: { a: '1', b: '2' }, binaryData: { raw: 'AP8=' } },
  'Secret/s': { data: { k: 'c2VjcmV0' } },
};
const view = (spec: object = {}, tokens: ContentView['tokens'] = {}): ContentView => ({
  pod: pod(spec, { labels: { app: 'web' } }),
  objects: ({ kind, name }) => objects[`${kind}/${name}`],
  allocatable: { cpu: '4' },
  tokens,
});
const filesOf = (volume: Omit<Volume, 'name'>, of = view()) =>
  volumeFiles({ name: 'v', ...volume }, of).map(({ path, mode, data, uid }) => [
    path,
    mode.toString(8),
    'text' in data ? data.text : `base64 ${data.base64}`,
    ...(uid === undefined ? [] : [uid]),
  ]);

describe('what a volume shows', () => {
  test('of a configMap all keys, text and bytes', () => {
    expect(filesOf({ configMap: { name: 'c' } })).toEqual([
      ['a', '644', '1'],
      ['b', '644', '2'],
      ['raw', '644', 'base64 AP8='],
    ]);
  });

  test('of items those alone, at their paths; an item’s mode wins', () => {
    const items = [
      { key: 'b', path: 'x/y', mode: 0o600 },
      { key: 'raw', path: 'r' },
    ];
    expect(filesOf({ configMap: { name: 'c', items, defaultMode: 0o440 } })).toEqual([
      ['x/y', '600', '2'],
      ['r', '440', 'base64 AP8='],
    ]);
  });

  test.each<[string, Omit<Volume, 'name'>]>([
    ['configmap "no" not found', { configMap: { name: 'no' } }],
    ['secret "no" not found', { secret: { secretName: 'no' } }],
    ['references non-existent config key: z', { configMap: { name: 'c', items: [{ key: 'z', path: 'z' }] } }],
    ['references non-existent secret key: z', { secret: { secretName: 's', items: [{ key: 'z', path: 'z' }] } }],
    ['secret "no" not found', { projected: { sources: [{ secret: { name: 'no' } }] } }],
  ])('%s', (message, volume) => expect(() => filesOf(volume)).toThrow(message));

  test('what is optional and missing is left out', () => {
    const items = [
      { key: 'k', path: 'k' },
      { key: 'z', path: 'z' },
    ];
    expect(filesOf({ secret: { secretName: 'no', optional: true } })).toEqual([]);
    expect(filesOf({ secret: { secretName: 's', items, optional: true } })).toEqual([['k', '644', 'base64 c2VjcmV0']]);
  });

  test('of the pod itself its metadata and the resources of its containers', () => {
    const items = [
      { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
      { path: 'cpu', mode: 0o400, resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } },
    ];
    expect(filesOf({ downwardAPI: { items } })).toEqual([
      ['labels', '644', 'app="web"'],
      ['cpu', '400', '4'],
    ]);
  });

  test('of a projected volume all sources; of two of one path the later one stays', () => {
    const sources = [
      { serviceAccountToken: { path: 'token' } },
      { configMap: { name: 'c', items: [{ key: 'a', path: 'x' }] } },
      { secret: { name: 's', items: [{ key: 'k', path: 'x' }] } },
      { downwardAPI: { items: [{ path: 'ns', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ];
    expect(filesOf({ projected: { sources, defaultMode: 0o640 } }, view({}, { 0: 'eyJ' }))).toEqual([
      ['token', '640', 'eyJ'],
      ['x', '640', 'base64 c2VjcmV0'],
      ['ns', '640', 'shop'],
    ]);
  });

  test.each<[string, object, unknown[]]>([
    ['a group', { securityContext: { fsGroup: 2000 } }, ['600']],
    ['one user of all containers', { securityContext: { runAsUser: 1000 } }, ['600', 1000]],
    [
      'users that differ',
      { securityContext: { runAsUser: 1000 }, containers: [container('main'), container('b', { securityContext: { runAsUser: 1 } })] }, // prettier-ignore
      ['644'],
    ],
  ])('a token with %s', (_who, spec, [mode, ...uid]) => {
    const sources = [{ serviceAccountToken: { path: 't' } }];
    expect(filesOf({ projected: { sources } }, view(spec, { 0: 'eyJ' }))).toEqual([['t', mode, 'eyJ', ...uid]]);
  });
});

describe('when a token is renewed', () => {
  const hour = 3_600_000;
  test.each([
    ['at 80 % of its life', 3600, 0, 0, 0.8 * hour],
    ['earlier by chance', 3600, 0, 0.5, 0.8 * hour - 5000],
    ['after a day at the latest', 31_536_000, 0, 0, 24 * hour],
    ['the older, the sooner', 3600, 0.5 * hour, 0, 0.3 * hour],
    ['at once where it is due', 3600, 0.9 * hour, 0, 0],
    ['B167 at once where it seems to be of the future', 3600, -48 * hour, 0, 0],
  ])('%s', (_when, expirationSeconds, ageMs, random, ms) => {
    expect(tokenRefreshIn({ expirationSeconds, ageMs }, random)).toBe(ms);
  });

  test('it is valid to its end', () => {
    expect(tokenIsValid({ expirationSeconds: 600, ageMs: 599_999 })).toBe(true);
    expect(tokenIsValid({ expirationSeconds: 600, ageMs: 600_000 })).toBe(false);
  });
});

test('volumes that no container uses are not mounted, and a change touches those that show it', () => {
  const own = pod({
    volumes: [
      { name: 'a', configMap: { name: 'c' } },
      { name: 'b', projected: { sources: [{ configMap: { name: 'c' } }] } },
      { name: 'c', secret: { secretName: 's' } },
      { name: 'unused', configMap: { name: 'c' } },
    ],
    initContainers: [container('init', { volumeMounts: [{ name: 'b', mountPath: '/b' }] })],
    containers: [
      container('main', {
        volumeMounts: [
          { name: 'a', mountPath: '/a' },
          { name: 'c', mountPath: '/c' },
        ],
      }),
    ],
  });
  expect(usedVolumes(own).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(volumesShowing(own, { kind: 'ConfigMap', name: 'c' })).toEqual(['a', 'b']);
});
