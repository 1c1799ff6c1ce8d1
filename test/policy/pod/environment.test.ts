import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../machines/kubernetes.types.ts';
import type { ConfigObject, ObjectReference } from '../../../machines/pod/objects.types.ts';
import { containerEnvironment, type EnvironmentView } from '../../../machines/pod/policy/environment.ts';
import { podReferences } from '../../../machines/pod/policy/object-references.ts';
import { container, pod } from './fixtures.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const objects: Record<string, ConfigObject> = {
  'ConfigMap/settings': { data: { COLOR: 'red', 'not-a.C-name': 'x' }, binaryData: { RAW: base64('raw') } },
  'Secret/keys': { data: { PASSWORD: base64('$(COLOR)hunter2'), COLOR: base64('green') } },
};
const own = pod(
  { nodeName: 'n1', serviceAccountName: 'robot' },
  { labels: { b: '2', a: '1"\n' }, annotations: { 'x/y': 'z' } },
);
const view = (more: Partial<EnvironmentView> = {}): EnvironmentView => ({
  pod: own,
  podIPs: ['10.0.0.5', 'fd00::5'],
  hostIPs: ['192.0.2.1', '2001:db8::1'],
  allocatable: { cpu: '3500m', memory: '1Gi', 'ephemeral-storage': '5Gi' },
  objects: ({ kind, name }: ObjectReference) => objects[`${kind}/${name}`],
  services: new Map(),
  ...more,
});
const environment = (of: Partial<Container>, more: Partial<EnvironmentView> = {}) =>
  Object.fromEntries(containerEnvironment(container('main', of), view(more)).map(({ name, value }) => [name, value]));
const from = (valueFrom: object) => environment({ env: [{ name: 'V', valueFrom }] })['V'];

describe("a container's environment", () => {
  test('a variable sees those before it, and the later of two wins', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'B', value: '$(A)$(C)' },
      { name: 'C', value: '3' },
      { name: 'A', value: '$(A)+' },
      { name: 'D' },
    ];
    expect(containerEnvironment(container('main', { env }), view())).toEqual([
      { name: 'A', value: '1+' },
      { name: 'B', value: '1$(C)' },
      { name: 'C', value: '3' },
      { name: 'D', value: '' },
    ]);
  });

  test('envFrom comes before env, in its order, each with its prefix; names are not judged', () => {
    const envFrom = [
      { configMapRef: { name: 'settings' } },
      { secretRef: { name: 'keys' } },
      { prefix: 'P_', configMapRef: { name: 'settings' } },
    ];
    const env = [{ name: 'PASSWORD', value: '$(COLOR) $(P_COLOR)' }];
    expect(environment({ envFrom, env })).toEqual({
      COLOR: 'green',
      'not-a.C-name': 'x',
      PASSWORD: 'green red',
      P_COLOR: 'red',
      'P_not-a.C-name': 'x',
    });
  });

  test('what comes from an object is not expanded', () => {
    expect(
      environment({
        env: [
          { name: 'COLOR', value: 'blue' },
          { name: 'V', valueFrom: { secretKeyRef: { name: 'keys', key: 'PASSWORD' } } },
        ],
      })['V'],
    ).toBe('$(COLOR)hunter2');
  });

  test('variables of services fill gaps only, and can be expanded', () => {
    const services = new Map([
      ['KUBERNETES_SERVICE_HOST', '10.0.0.1'],
      ['A', 'service'],
    ]);
    const env = [
      { name: 'A', value: 'own' },
      { name: 'B', value: 'at $(KUBERNETES_SERVICE_HOST)' },
    ];
    expect(environment({ env }, { services })).toEqual({
      A: 'own',
      B: 'at 10.0.0.1',
      KUBERNETES_SERVICE_HOST: '10.0.0.1',
    });
  });

  test.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'shop'],
    ['metadata.uid', 'u-1'],
    ['metadata.labels', 'a="1\\"\\n"\nb="2"'],
    ["metadata.labels['b']", '2'],
    ["metadata.labels['absent']", ''],
    ["metadata.annotations['x/y']", 'z'],
    ['spec.nodeName', 'n1'],
    ['spec.serviceAccountName', 'robot'],
    ['status.podIP', '10.0.0.5'],
    ['status.podIPs', '10.0.0.5,fd00::5'],
    ['status.hostIP', '192.0.2.1'],
    ['status.hostIPs', '192.0.2.1,2001:db8::1'],
  ])('fieldRef %s is %s', (fieldPath, value) => expect(from({ fieldRef: { fieldPath } })).toBe(value));

  test.each([
    ['limits.cpu', '1', '2'],
    ['limits.cpu', '100m', '12'],
    ['limits.memory', '1Mi', '64'],
    ['limits.memory', '0', '67108864'],
    ['requests.memory', '', '1'],
    ['requests.cpu', '1', '0'],
    ['limits.ephemeral-storage', '1Gi', '5'],
  ])('resourceFieldRef %s by %j is %s; a limit that is not set is the node’s', (resource, divisor, value) => {
    const resources = { limits: { cpu: '1200m', memory: '64Mi' }, requests: { memory: '1' } };
    const env = [{ name: 'V', valueFrom: { resourceFieldRef: { resource, divisor } } }];
    expect(environment({ env, resources })['V']).toBe(value);
  });

  test('a resource of another container, and the node’s where nobody set a limit', () => {
    expect(from({ resourceFieldRef: { resource: 'limits.cpu', containerName: 'main' } })).toBe('4');
    expect(() => from({ resourceFieldRef: { resource: 'limits.cpu', containerName: 'no' } })).toThrow(
      'unable to find container no',
    );
    expect(() => from({ resourceFieldRef: { resource: 'limits.gold' } })).toThrow('unsupported container resource');
  });

  test.each<[string, Partial<Container>]>([
    ['configmap "no" not found', { envFrom: [{ configMapRef: { name: 'no' } }] }],
    ['secret "no" not found', { env: [{ name: 'V', valueFrom: { secretKeyRef: { name: 'no', key: 'k' } } }] }],
    [
      "couldn't find key no in ConfigMap shop/settings",
      { env: [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'settings', key: 'no' } } }] },
    ],
    [
      "couldn't find key RAW in ConfigMap shop/settings",
      { env: [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'settings', key: 'RAW' } } }] },
    ],
    ['unsupported fieldPath: spec.x', { env: [{ name: 'V', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }],
  ])('%s', (message, of) => expect(() => environment(of)).toThrow(message));

  test('what is optional and missing is left out', () => {
    const env = [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'no', key: 'k', optional: true } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: 'keys', key: 'no', optional: true } } },
    ];
    expect(environment({ env, envFrom: [{ secretRef: { name: 'no', optional: true } }] })).toEqual({});
  });
});

test('a pod refers to each object once, by containers, init containers and volumes', () => {
  const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'a', key: 'k' } } }];
  const referring = pod({
    initContainers: [container('init', { env })],
    containers: [container('main', { env, envFrom: [{ secretRef: { name: 's' } }] })],
    volumes: [
      { name: 'v', projected: { sources: [{ configMap: { name: 'b' } }, { secret: { name: 's' } }] } },
      { name: 'w', secret: { secretName: 't' } },
      { name: 'x', configMap: { name: 'a' } },
      { name: 'y', emptyDir: {} },
    ],
  });
  expect(podReferences(referring).map(({ kind, name }) => `${kind}/${name}`)).toEqual([
    'ConfigMap/a',
    'Secret/s',
    'ConfigMap/b',
    'Secret/t',
  ]);
});
