import { describe, expect, test } from '@jest/globals';
import type { ContainerState, ContainerStatus, PodStatus } from '../../../machines/kubernetes.types.ts';
import { mergeStatus, sameStatus } from '../../../machines/syncloop/policy/merge-status.ts';
import { condition, podStatus } from '../../support/api-pods.ts';
import { container, pod } from '../../support/fixtures.ts';

const EARLY = '2026-01-01T00:00:10Z';
const LATE = '2026-01-01T00:00:20Z';

const status = (state: ContainerState, over: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: 'app',
  state,
  lastState: {},
  ready: false,
  restartCount: 0,
  image: 'a',
  imageID: 'b',
  ...over,
});
const ended = (exitCode: number, reason = exitCode ? 'Error' : 'Completed'): ContainerState => ({
  terminated: { exitCode, reason },
});
const running: ContainerState = { running: { startedAt: EARLY } };
const conditionOf = (merged: PodStatus, type: string) => merged.conditions?.find((c) => c.type === type);

describe('conditions', () => {
  test('those of others stay as the API has them, whatever the agent has read of them before', () => {
    const api = podStatus('Running', { conditions: [condition('example.com/gate', 'True', LATE)] });
    const wanted = podStatus('Running', {
      conditions: [condition('example.com/gate', 'False', EARLY), condition('Ready', 'True')],
    });
    expect(mergeStatus(pod(), api, wanted).conditions).toEqual([
      condition('example.com/gate', 'True', LATE),
      condition('Ready', 'True'),
    ]);
  });

  test('one of others that was taken away does not come back', () => {
    const wanted = podStatus('Running', { conditions: [condition('example.com/gate', 'False')] });
    expect(mergeStatus(pod(), podStatus('Running'), wanted).conditions).toEqual([]);
  });

  test('B081 the time of a transition is that of the change, and never goes back', () => {
    const at = (apiStatus: string, apiTime: string, wantedStatus: string, wantedTime: string) =>
      conditionOf(
        mergeStatus(
          pod(),
          podStatus('Running', { conditions: [condition('Ready', apiStatus, apiTime)] }),
          podStatus('Running', { conditions: [condition('Ready', wantedStatus, wantedTime)] }),
        ),
        'Ready',
      );
    expect(at('True', EARLY, 'False', LATE)).toEqual(condition('Ready', 'False', LATE));
    expect(at('True', EARLY, 'True', LATE)).toEqual(condition('Ready', 'True', EARLY));
    expect(at('True', LATE, 'False', EARLY)).toEqual(condition('Ready', 'False', LATE));
  });

  test('generations that were observed never go back', () => {
    const of = (generation: number) =>
      podStatus('Running', {
        observedGeneration: generation,
        conditions: [{ ...condition('Ready', 'True'), observedGeneration: generation }],
      });
    const merged = mergeStatus(pod(), of(3), of(2));
    expect(merged.observedGeneration).toBe(3);
    expect(conditionOf(merged, 'Ready')?.observedGeneration).toBe(3);
    expect(mergeStatus(pod(), of(3), of(4)).observedGeneration).toBe(4);
    expect(mergeStatus(pod(), undefined, podStatus('Pending'))).not.toHaveProperty('observedGeneration');
  });

  test('DisruptionTarget is told together with the end, not before', () => {
    const disrupted = condition('DisruptionTarget', 'True', LATE);
    const wanted = (phase: string) => podStatus(phase, { conditions: [disrupted] });
    expect(mergeStatus(pod(), podStatus('Running'), wanted('Running')).conditions).toEqual([]);
    expect(mergeStatus(pod(), podStatus('Running'), wanted('Failed')).conditions).toEqual([disrupted]);
  });

  test('a DisruptionTarget of others stays before the end, and is replaced by the agent’s own at the end', () => {
    const theirs = condition('DisruptionTarget', 'True', EARLY);
    const own = { ...condition('DisruptionTarget', 'True', LATE), reason: 'TerminationByKubelet' };
    const api = podStatus('Running', { conditions: [theirs] });
    expect(mergeStatus(pod(), api, podStatus('Running', { conditions: [own] })).conditions).toEqual([theirs]);
    const merged = mergeStatus(pod(), api, podStatus('Failed', { conditions: [own] }));
    expect(merged.conditions).toEqual([{ ...own, lastTransitionTime: EARLY }]);
  });

  test('a pod that ended is not ready', () => {
    const wanted = podStatus('Succeeded', {
      conditions: [condition('Ready', 'True'), condition('ContainersReady', 'True')],
    });
    const statuses = mergeStatus(pod(), podStatus('Running'), wanted).conditions?.map((c) => c.status);
    expect(statuses).toEqual(['False', 'False']);
  });
});

describe('phase', () => {
  test('B077 a terminal phase never changes, nor do its reason and message', () => {
    const api = podStatus('Failed', { reason: 'Evicted', message: 'memory' });
    const merged = mergeStatus(pod(), api, podStatus('Succeeded', { message: 'done' }));
    expect(merged).toMatchObject({ phase: 'Failed', reason: 'Evicted', message: 'memory' });
    expect(mergeStatus(pod(), podStatus('Failed'), podStatus('Running', { reason: 'x' }))).not.toHaveProperty('reason');
  });

  test('reason and message go when the agent has none any more', () => {
    const merged = mergeStatus(pod(), podStatus('Pending', { reason: 'x', message: 'y' }), podStatus('Running'));
    expect(merged).not.toHaveProperty('reason');
    expect(merged).not.toHaveProperty('message');
  });
});

describe('containers', () => {
  const merge = (policy: string, api: ContainerStatus, wanted: ContainerStatus) =>
    mergeStatus(
      pod({ spec: { restartPolicy: policy } }),
      podStatus('Running', { containerStatuses: [api] }),
      podStatus('Running', { containerStatuses: [wanted] }),
    ).containerStatuses?.[0]?.state;

  test.each([
    ['Never', 1, 'ended'],
    ['Never', 0, 'ended'],
    ['OnFailure', 0, 'ended'],
    ['OnFailure', 1, 'running'],
    ['Always', 0, 'running'],
  ])('under restartPolicy %s one that ended with %i is shown %s', (policy, exitCode, shown) => {
    const state = merge(policy, status(ended(exitCode)), status(running));
    expect(state).toEqual(shown === 'ended' ? ended(exitCode) : running);
  });

  test('B078 a known end is not replaced by an unknown one', () => {
    const unknown = ended(137, 'ContainerStatusUnknown');
    expect(merge('Always', status(ended(0)), status(unknown))).toEqual(ended(0));
    expect(merge('Always', status(running), status(unknown))).toEqual(unknown);
    expect(merge('Always', status(ended(0)), status(unknown, { restartCount: 1 }))).toEqual(unknown);
  });

  test('an init container that was over runs again in a new sandbox, as far as the API takes that', () => {
    const mergeInit = (restartPolicy: string, code = 0) =>
      mergeStatus(
        pod({ spec: { restartPolicy, initContainers: [container({ name: 'init' })] } }),
        podStatus('Pending', { initContainerStatuses: [status(ended(code), { name: 'init' })] }),
        podStatus('Pending', { initContainerStatuses: [status(running, { name: 'init' })] }),
      ).initContainerStatuses?.[0]?.state;
    expect(mergeInit('Always')).toEqual(running);
    expect(mergeInit('OnFailure', 1)).toEqual(running);
    expect(mergeInit('OnFailure')).toEqual(ended(0));
    expect(mergeInit('Never')).toEqual(ended(0));
  });
});

test('what others write beside the agent stays; what the agent does not show any more goes', () => {
  const api: PodStatus = {
    phase: 'Running',
    nominatedNodeName: 'n',
    resourceClaimStatuses: [{ name: 'c' }],
    podIP: '10.0.0.1',
  };
  expect(mergeStatus(pod(), api, { phase: 'Running' })).toEqual({
    phase: 'Running',
    nominatedNodeName: 'n',
    resourceClaimStatuses: [{ name: 'c' }],
    conditions: [],
  });
});

test('the start of a pod is told once', () => {
  expect(mergeStatus(pod(), { startTime: EARLY }, podStatus('Running', { startTime: LATE })).startTime).toBe(EARLY);
  expect(mergeStatus(pod(), undefined, podStatus('Running', { startTime: LATE })).startTime).toBe(LATE);
});

test('where others have put their conditions is no difference', () => {
  const [own, gate] = [condition('Ready', 'True'), condition('example.com/gate', 'True')];
  const of = (...conditions: (typeof own)[]) => podStatus('Running', { conditions });
  expect(sameStatus(of(own, gate), of(gate, own))).toBe(true);
  expect(sameStatus(of(own, gate), of(own))).toBe(false);
});

test('what a server shows of unset fields is no difference', () => {
  const shown = { phase: 'Running', conditions: [{ ...condition('Ready', 'True'), lastProbeTime: null }], hostIP: '' };
  const own = { phase: 'Running', conditions: [condition('Ready', 'True')], podIPs: [] };
  expect(sameStatus(shown as unknown as PodStatus, own)).toBe(true);
  expect(sameStatus(own, podStatus('Pending'))).toBe(false);
  expect(sameStatus(undefined, {})).toBe(true);
});
