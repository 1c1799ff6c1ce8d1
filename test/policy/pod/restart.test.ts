import { describe, expect, test } from '@jest/globals';
import { willFollow } from '../../../machines/pod/policy/restart.ts';
import { instance, pod } from '../../support/fixtures.ts';

describe('an end that only the event stream told of', () => {
  const ended = (exitCode: number, name = 'app') =>
    instance({ name, state: 'exited', exitCode, reason: exitCode ? 'Error' : 'Completed' });
  const withInit = pod({
    spec: { restartPolicy: 'Never', initContainers: [{ name: 'init', image: 'busybox' }] },
  });
  const withSidecar = pod({
    spec: { restartPolicy: 'Never', initContainers: [{ name: 'init', image: 'busybox', restartPolicy: 'Always' }] },
  });

  test.each([
    ['Always, success', pod(), ended(0), undefined, true],
    ['OnFailure, failure', pod({ spec: { restartPolicy: 'OnFailure' } }), ended(1), undefined, true],
    [
      'OnFailure, success: the pod may be over',
      pod({ spec: { restartPolicy: 'OnFailure' } }),
      ended(0),
      undefined,
      false,
    ],
    ['Never', pod({ spec: { restartPolicy: 'Never' } }), ended(1), undefined, false],
    ['an init container that may fail the pod', withInit, ended(1, 'init'), undefined, false],
    ['a sidecar', withSidecar, ended(0, 'init'), undefined, true],
    ['a pod that is to end', pod(), ended(1), {}, false],
    ['a container that the spec no longer has', pod(), ended(1, 'old'), undefined, false],
  ])('%s', (_name, desired, container, termination, expected) => {
    expect(willFollow({ pod: desired, termination }, container)).toBe(expected);
  });
});
