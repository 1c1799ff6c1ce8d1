import { describe, expect, test } from '@jest/globals';
import * as api from '@kubernetes/client-node';
import { decodeManifest } from '../../../machines/syncloop/policy/decode-pod.ts';
import { withoutDuplicates } from '../../../machines/syncloop/policy/duplicates.ts';
import * as tables from '../../../machines/syncloop/policy/supported-fields.ts';

const options = { nodeName: 'Node-1', source: 'file' } as const;
const decode = (text: string, origin = '/m/a.yaml') => decodeManifest(text, origin, options);
const manifest = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', ...metadata },
  spec: { containers: [{ name: 'c', image: 'busybox' }], ...spec },
});
const withContainer = (more: object, spec: object = {}) =>
  manifest({ containers: [{ name: 'c', image: 'busybox', ...more }], ...spec });
const problems = (value: unknown) => decode(JSON.stringify(value)).problems;
const first = (value: unknown, from: { nodeName: string; source: 'file' | 'http'; seen?: string } = options) =>
  decodeManifest(JSON.stringify(value), '/m/a.yaml', from).pods[0];

describe('every field of the API is supported or refused by name', () => {
  test.each([
    [tables.POD, api.V1Pod],
    [tables.METADATA, api.V1ObjectMeta],
    [tables.POD_SPEC, api.V1PodSpec],
    [tables.CONTAINER, api.V1Container],
    [tables.VOLUME, api.V1Volume],
    [tables.PROJECTION, api.V1VolumeProjection],
    [tables.VOLUME_MOUNT, api.V1VolumeMount],
    [tables.ENV_VAR, api.V1EnvVar],
    [tables.ENV_VAR_SOURCE, api.V1EnvVarSource],
    [tables.ENV_FROM, api.V1EnvFromSource],
    [tables.CONTAINER_PORT, api.V1ContainerPort],
    [tables.RESOURCES, api.V1ResourceRequirements],
    [tables.SECURITY_CONTEXT, api.V1SecurityContext],
    [tables.POD_SECURITY_CONTEXT, api.V1PodSecurityContext],
  ])('table %#', (table, model) => {
    const names = model.getAttributeTypeMap().map(({ baseName }) => baseName);
    expect(Object.keys(table.fields).sort()).toEqual(names.sort());
  });
});

describe('texts', () => {
  test.each([
    ['empty', '', 'is empty'],
    ['only a comment', '# x\n', 'is empty'],
    ['not UTF-8', 'kind: Pod\nx: \uFFFD', 'is not UTF-8 text'],
    ['too large', `#${'x'.repeat(10 * 1024 * 1024)}`, 'is larger than 10 MiB'],
    ['half-written', 'kind: Pod\nspec: {a: "b', 'line 2: Missing closing'],
    ['half-written JSON', '{"kind": "Pod",', 'line 1: '],
    ['a key twice', 'kind: Pod\nkind: Pod', 'line 2: the same key is written twice'],
    ['a key twice in JSON', '{"kind":"Pod",\n"kind":"Pod"}', 'line 2: the same key is written twice'],
    ['two documents', 'kind: Pod\n---\nkind: Pod', 'holds 2 YAML documents'],
    ['nested without end', '['.repeat(100_000), 'is nested too deeply: accepted are up to 500 levels'],
    ['lists in lists on one line', '- '.repeat(50_000), 'is nested too deeply: accepted are up to 500 levels'],
    ['JSON nested without end', '['.repeat(100_000) + ']'.repeat(100_000), 'is nested too deeply'],
    ['an alias of nothing', 'a: *b', 'YAML aliases'],
    ['a list', '[]', 'must be a map'],
    ['no kind', 'a: 1', 'kind: is required'],
    [
      'another kind',
      'apiVersion: v1\nkind: Service',
      'kind: "Service" is not accepted, accepted are Pod, PodList, List',
    ],
    ['another version', 'apiVersion: v2\nkind: Pod', 'apiVersion: "v2" is not accepted, accepted is v1'],
    ['a list without items', 'apiVersion: v1\nkind: PodList', 'items: must be a list'],
  ])('%s', (_case, text, problem) => {
    const result = decode(text);
    expect(result.pods).toEqual([]);
    expect(result.problems).toEqual([expect.stringMatching(/^\/m\/a\.yaml: /)]);
    expect(result.problems[0]).toContain(problem);
  });

  test('YAML is read as the kubelet reads it, JSON with tabs too', () => {
    const yaml =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a, creationTimestamp: null}\nspec:\n  hostNetwork: yes\n  containers:\n  - {name: c, image: b, env: [{name: T, value: 22:22}]}\n---\n';
    expect(decode(yaml).pods[0]?.spec).toMatchObject({
      hostNetwork: true,
      containers: [{ env: [{ value: '22:22' }] }],
    });
    expect(decode(JSON.stringify(manifest(), null, '\t')).problems).toEqual([]);
  });

  test.each(['PodList', 'List'])('a %s gives all its pods, or none where one is wrong', (kind) => {
    const list = (...items: object[]) => JSON.stringify({ apiVersion: 'v1', kind, items });
    expect(decode(list(manifest(), manifest({}, { name: 'b' }))).pods.map((p) => p.metadata.name)).toEqual([
      'a-node-1',
      'b-node-1',
    ]);
    const wrong = decode(list(manifest(), manifest({}, { name: 'B' })));
    expect(wrong.pods).toEqual([]);
    expect(wrong.problems[0]).toContain('items[1].metadata.name:');
  });
});

describe('fields', () => {
  test.each<[object, string]>([
    [
      manifest({ restartPolicy: 'Sometimes' }),
      'spec.restartPolicy: "Sometimes" is not accepted, accepted are Always, OnFailure, Never',
    ],
    [manifest({ restartPolcy: 'Never' }), 'spec.restartPolcy: unknown field'],
    [manifest({ containers: [] }), 'spec.containers: must hold at least one'],
    [manifest({ containers: 'x' }), 'spec.containers: must be a list, not a string'],
    [manifest({ containers: [null] }), 'spec.containers[0]: must be a map of fields, not null'],
    [manifest({ terminationGracePeriodSeconds: -1 }), 'spec.terminationGracePeriodSeconds: -1 is out of range'],
    [manifest({ activeDeadlineSeconds: 0 }), 'spec.activeDeadlineSeconds: 0 is out of range'],
    [manifest({}, { name: undefined }), 'metadata.name: is required'],
    [manifest({}, { name: 'A_b' }), 'metadata.name: "A_b-node-1" is not accepted'],
    [manifest({}, { name: 'x'.repeat(250) }), 'metadata.name:'],
    [manifest({}, { name: 'x'.repeat(210) }), 'metadata.name: is too long by 3: accepted are at most 253 of namespace'],
    [manifest({}, { namespace: 'a.b' }), 'metadata.namespace: "a.b" is not accepted'],
    [manifest({}, { uid: '../x' }), 'metadata.uid:'],
    [manifest({}, { labels: { a: 'b c' } }), 'metadata.labels[a]:'],
    [manifest({}, { annotations: { 'a b': '' } }), 'metadata.annotations: "a b" is not'],
    [
      manifest({}, { annotations: { a: 'ä'.repeat(131_072) } }),
      'metadata.annotations: have 262145 bytes together, accepted are at most 262144',
    ],
    [manifest({}, { labels: { a: 1 } }), 'metadata.labels[a]: must be a string, not a number'],
    [manifest({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), 'metadata.deletionTimestamp: is not accepted'],
    [
      manifest({
        containers: [
          { name: 'c', image: 'a' },
          { name: 'c', image: 'a' },
        ],
      }),
      'spec.containers[1].name: "c" is the name of another',
    ],
    [manifest({ initContainers: [{ name: 'c', image: 'a' }] }), 'spec.containers[0].name: "c" is the name of another'],
    [manifest({ containers: [{ name: 'c' }] }), 'spec.containers[0].image: is required'],
    [withContainer({ name: 'C' }), 'spec.containers[0].name: "C" is not accepted'],
    [withContainer({ command: 'sh' }), 'spec.containers[0].command: must be a list, not a string'],
    [
      withContainer({ env: [{ name: 'A', value: 1 }] }),
      'spec.containers[0].env[0].value: must be a string, not a number',
    ],
    [withContainer({ env: [{ name: 'A=B' }] }), 'spec.containers[0].env[0].name:'],
    [
      withContainer({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's' } } }] }),
      'spec.containers[0].env[0].valueFrom.secretKeyRef.key: is required',
    ],
    [
      withContainer({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }),
      'spec.containers[0].env[0].valueFrom.secretKeyRef: a static pod may not refer to API objects',
    ],
    [
      withContainer({ envFrom: [{ configMapRef: { name: 'c' } }] }),
      'spec.containers[0].envFrom[0].configMapRef: a static pod may not refer to API objects',
    ],
    [
      withContainer({ env: [{ name: 'A', valueFrom: { fileKeyRef: {} } }] }),
      'spec.containers[0].env[0].valueFrom.fileKeyRef: not supported yet',
    ],
    [
      withContainer({ livenessProbe: {} }),
      'spec.containers[0].livenessProbe: must have one of exec, httpGet, tcpSocket, grpc',
    ],
    [
      withContainer({ readinessProbe: { exec: { command: ['a'] }, grpc: { port: 1 } } }),
      'spec.containers[0].readinessProbe: must have one of exec, httpGet, tcpSocket, grpc, not exec and grpc',
    ],
    [withContainer({ livenessProbe: { exec: {} } }), 'livenessProbe.exec.command: must hold a command'],
    [
      withContainer({ livenessProbe: { tcpSocket: { port: 0 } } }),
      "livenessProbe.tcpSocket.port: must be a port from 1 to 65535 or the name of one of the container's ports",
    ],
    [
      withContainer({ ports: [{ containerPort: 1, name: 'web' }], livenessProbe: { httpGet: { port: 'http' } } }),
      'livenessProbe.httpGet.port: "http" is no port of the container, accepted are web',
    ],
    [
      withContainer({ livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: 'a b', value: '' }] } } }),
      'livenessProbe.httpGet.httpHeaders[0].name: is not the name of a header',
    ],
    [
      withContainer({ livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: 'a', value: 'b\nc' }] } } }),
      'livenessProbe.httpGet.httpHeaders[0].value: must not hold line breaks',
    ],
    [
      withContainer({ livenessProbe: { tcpSocket: { port: 1, host: 'not a host' } } }),
      "livenessProbe.tcpSocket.host: must be a host's name or address",
    ],
    [
      withContainer({ readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 2.5 } }),
      'readinessProbe.periodSeconds: 2.5 is no whole number',
    ],
    [
      withContainer({ startupProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
      'startupProbe.successThreshold: must be 1',
    ],
    [
      withContainer({ readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 2 } }),
      'readinessProbe.terminationGracePeriodSeconds: is for liveness and startup probes only',
    ],
    [
      withContainer({ readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 0 } }),
      'readinessProbe.periodSeconds: 0 is out of range, accepted are 1 to 2147483647',
    ],
    [withContainer({ terminationMessagePolicy: 'No' }), 'accepted are File, FallbackToLogsOnError'],
    [withContainer({ imagePullPolicy: 'always' }), 'accepted are Always, IfNotPresent, Never'],
    [
      withContainer({ resources: { limits: { memory: '64mb' } } }),
      'spec.containers[0].resources.limits.memory: "64mb" is not a quantity',
    ],
    [
      withContainer({ resources: { limits: { cpu: '-1' } } }),
      'spec.containers[0].resources.limits.cpu: must not be negative',
    ],
    [
      withContainer({ resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
      'spec.containers[0].resources.requests.cpu: must not be above',
    ],
    [
      withContainer({ ports: [{ containerPort: 0 }] }),
      'spec.containers[0].ports[0].containerPort: 0 is out of range, accepted are 1 to 65535',
    ],
    [withContainer({ ports: [{ containerPort: 80, protocol: 'tcp' }] }), 'accepted are TCP, UDP, SCTP'],
    [
      withContainer({ ports: [{ containerPort: 80, hostPort: 81 }] }, { hostNetwork: true }),
      'ports[0].hostPort: must equal containerPort',
    ],
    [
      withContainer({ volumeMounts: [{ name: 'v', mountPath: '/x' }] }),
      'spec.containers[0].volumeMounts[0].name: "v" is not a volume of the pod, it has none',
    ],
    [
      withContainer(
        {
          volumeMounts: [
            { name: 'v', mountPath: '/x' },
            { name: 'v', mountPath: '/x' },
          ],
        },
        { volumes: [{ name: 'v' }] },
      ),
      'spec.containers[0].volumeMounts[1].mountPath: "/x" is mounted twice',
    ],
    [
      withContainer({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
      'securityContext.allowPrivilegeEscalation:',
    ],
    [manifest({ volumes: [{ name: 'v', csi: {} }] }), 'spec.volumes[0].csi: not supported yet'],
    [
      manifest({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
      'spec.volumes[0].secret: a static pod may not refer to API objects',
    ],
    [
      manifest({ volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] }),
      'spec.volumes[0].projected.sources[0].serviceAccountToken: a static pod may not refer to API objects',
    ],
    [
      manifest({ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: {} }] } }] }),
      'spec.volumes[0].projected.sources[0].clusterTrustBundle: not supported yet',
    ],
    [
      manifest({ volumes: [{ name: 'v', emptyDir: {}, downwardAPI: {} }] }),
      'spec.volumes[0]: must have one source, not emptyDir and downwardAPI',
    ],
    [
      manifest({ volumes: [{ name: 'v', hostPath: { path: '/a/../b' } }] }),
      'spec.volumes[0].hostPath.path: must not contain ".."',
    ],
    [
      manifest({ volumes: [{ name: 'v', hostPath: { path: '/a', type: 'Dir' } }] }),
      'accepted are "", DirectoryOrCreate',
    ],
    [manifest({ shareProcessNamespace: true }), 'spec.shareProcessNamespace: true is not supported yet'],
    [manifest({ subdomain: 'a' }), 'spec.subdomain: not supported yet'],
    [manifest({ serviceAccountName: 'x' }), 'spec.serviceAccountName: a static pod may not refer to API objects'],
  ])('%#: the problem names the field and what is accepted', (value, problem) => {
    expect(problems(value)).toContainEqual(expect.stringContaining(problem));
    expect(first(value)).toBeUndefined();
  });

  test('a secret value never shows', () => {
    const text = JSON.stringify(withContainer({ args: [{ password: 'hunter2' }], env: 'hunter2' }));
    expect(decode(text).problems).toHaveLength(2);
    expect(decode(text).problems.join()).not.toContain('hunter2');
    expect(decode(`${text.slice(0, -2)}: "`).problems.join()).not.toContain('hunter2');
  });
});

describe('a static pod', () => {
  test('is named, placed, annotated and defaulted', () => {
    const pod = first(
      withContainer({ ports: [{ containerPort: 80 }], resources: { limits: { cpu: 1 } } }, { hostNetwork: true }),
      {
        ...options,
        seen: '2026-01-01T00:00:00Z',
      },
    );
    expect(pod?.metadata).toMatchObject({
      name: 'a-node-1',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(pod?.metadata.annotations).toEqual({
      'kubernetes.io/config.hash': pod?.metadata.uid,
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.seen': '2026-01-01T00:00:00Z',
    });
    expect(pod?.spec).toMatchObject({
      nodeName: 'Node-1',
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
    });
    expect(pod?.spec.containers[0]).toMatchObject({
      imagePullPolicy: 'Always',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }],
      resources: { limits: { cpu: '1' }, requests: { cpu: '1' } },
    });
    expect(first(manifest(), { nodeName: 'n', source: 'http' })?.spec.tolerations).toBeUndefined();
  });

  test('its UID follows from content, node and origin, not from layout; a given one stays', () => {
    const uid = (text: string, origin = '/m/a', nodeName = 'n') =>
      decodeManifest(text, origin, { source: 'file', nodeName }).pods[0]?.metadata.uid;
    const text = JSON.stringify(manifest());
    expect(uid(text)).toBe(uid(`# same\n${JSON.stringify(manifest({}, { labels: null }), null, 2)}`));
    const others = [
      uid(text),
      uid(text, '/m/b'),
      uid(text, '/m/a', 'n2'),
      uid(JSON.stringify(withContainer({ tty: true }))),
    ];
    expect(new Set(others).size).toBe(4);
    expect(uid(JSON.stringify(manifest({}, { uid: 'mine' })))).toBe('mine');
  });
});

test('of two pods with one name or one UID in a source, the first stays and the second is told of', () => {
  const pods = [
    manifest({}, { uid: 'u1' }),
    manifest({}, { uid: 'u2' }),
    manifest({}, { name: 'b', uid: 'u1' }),
    manifest({}, { name: 'c', uid: 'u3' }),
  ];
  const result = withoutDuplicates(
    pods.map((p) => first(p)!),
    'file',
  );
  expect(result.pods.map((p) => p.metadata.uid)).toEqual(['u1', 'u3']);
  expect(result.events.map(({ reason, message }) => [reason, message])).toEqual([
    [
      'FailedValidation',
      'Error validating pod a-node-1_default(u2) from file due to duplicate pod name "a-node-1_default", ignoring: file has it',
    ],
    [
      'FailedValidation',
      'Error validating pod b-node-1_default(u1) from file due to duplicate pod UID "u1", ignoring: file has it',
    ],
  ]);
});

test('the one that stays is named by its origin', () => {
  const [stays, came] = [first(manifest({}, { uid: 'u1' }))!, first(manifest({}, { uid: 'u2' }))!];
  const { pods, events } = withoutDuplicates([stays, came], 'file', (pod) => (pod === stays ? 'a.yaml' : 'z.yaml'));
  expect(pods).toEqual([stays]);
  expect(events[0]?.message).toMatch(/^Error validating pod .* from z\.yaml due to duplicate .*: a\.yaml has it$/);
});
