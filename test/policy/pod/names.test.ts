import { describe, expect, test } from '@jest/globals';
import {
  containerAnnotations,
  containerLabels,
  containerLogPath,
  hostname,
  legacyLogLinkName,
  logDirectoryName,
  podFullName,
  sandboxAnnotations,
  sandboxLabels,
} from '../../../machines/pod/policy/names.ts';
import { container, pod } from './fixtures.ts';

describe('names', () => {
  test('full name, log directory and log path', () => {
    expect(podFullName(pod())).toBe('web_shop');
    expect(logDirectoryName(pod())).toBe('shop_web_u-1');
    expect(containerLogPath({ name: 'main' }, 3)).toBe('main/3.log');
  });

  test('a static pod’s log directory bears its config hash', () => {
    expect(logDirectoryName(pod({}, { annotations: { 'kubernetes.io/config.hash': 'h1' } }))).toBe('shop_web_h1');
  });

  test('the legacy link is named by pod, namespace, container and id, within 255 bytes', () => {
    expect(legacyLogLinkName(pod(), { name: 'main' }, 'abc')).toBe('web_shop_main-abc.log');
    const long = legacyLogLinkName(pod({}, { name: 'p'.repeat(253) }), { name: 'main' }, 'abc');
    expect(long).toBe(`${'p'.repeat(251)}.log`.slice(-255));
    expect(long).toHaveLength(255);
  });

  test.each([
    ['web', undefined, 'web'],
    ['web', 'other', 'other'],
    [`${'a'.repeat(62)}-${'b'.repeat(7)}`, undefined, 'a'.repeat(62)],
    [`${'a'.repeat(61)}-.${'b'.repeat(7)}`, undefined, 'a'.repeat(61)],
    ['c'.repeat(70), undefined, 'c'.repeat(63)],
  ])('B136 the host name of pod %s is at most 63 characters and ends in a letter or digit', (name, given, expected) => {
    expect(hostname(pod({ hostname: given }, { name }))).toBe(expected);
  });
});

describe('labels and annotations, by which agents adopt each other’s containers', () => {
  const owner = pod(
    { terminationGracePeriodSeconds: 0 },
    {
      labels: { app: 'web', 'io.kubernetes.pod.name': 'forged' },
      annotations: { note: 'x' },
      deletionGracePeriodSeconds: 5,
    },
  );

  test('a sandbox has the pod’s labels and annotations, its names winning', () => {
    expect(sandboxLabels(owner)).toEqual({
      app: 'web',
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'shop',
      'io.kubernetes.pod.uid': 'u-1',
    });
    expect(sandboxAnnotations(owner)).toEqual({ note: 'x' });
  });

  test('a container has its names, hash, restart count, message settings and graces', () => {
    const own = container('app', {
      image: 'nginx',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      lifecycle: { preStop: { exec: { command: ['a'] } } },
    });
    expect(containerLabels(owner, own)).toEqual({
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'shop',
      'io.kubernetes.pod.uid': 'u-1',
      'io.kubernetes.container.name': 'app',
    });
    expect(containerAnnotations(owner, own, 7)).toEqual({
      'io.kubernetes.container.hash': '807ef53b',
      'io.kubernetes.container.restartCount': '7',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.container.ports': '[{"containerPort":80,"protocol":"TCP"}]',
      'io.kubernetes.container.preStopHandler': '{"exec":{"command":["a"]}}',
      'io.kubernetes.pod.deletionGracePeriod': '5',
      'io.kubernetes.pod.terminationGracePeriod': '0',
    });
  });

  test('what the pod has not is not written', () => {
    expect(Object.keys(containerAnnotations(pod(), container('a'), 0))).toEqual([
      'io.kubernetes.container.hash',
      'io.kubernetes.container.restartCount',
      'io.kubernetes.container.terminationMessagePath',
      'io.kubernetes.container.terminationMessagePolicy',
    ]);
  });
});
