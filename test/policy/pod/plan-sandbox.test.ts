import { describe, expect, test } from '@jest/globals';
import { sandboxNeeded } from '../../../machines/pod/policy/plan-sandbox.ts';
import { ended, instance, observed, pod, sandbox } from './fixtures.ts';
import { containerWords, planOf, podOf, words } from './plan-summary.ts';

const lost = [sandbox({ state: 'notReady', ips: [] })];
const neverStarted = { startedAt: undefined };

describe('a pod’s sandbox', () => {
  test.each([
    ['none', {}, [], { do: 'create', attempt: 0 }],
    ['one that is ready', {}, [sandbox()], { do: 'keep', id: 's0' }],
    ['one that is not ready', {}, lost, { do: 'create', attempt: 1 }],
    [
      'a newest that is ready after one that is not',
      {},
      [sandbox({ id: 's1', attempt: 1 }), ...lost],
      { do: 'keep', id: 's1' },
    ],
    ['two that are ready', {}, [sandbox({ id: 's4', attempt: 4 }), sandbox()], { do: 'create', attempt: 5 }],
    ['one without IP', {}, [sandbox({ ips: [] })], { do: 'create', attempt: 1 }],
    ['one of the host network', {}, [sandbox({ network: 'node', ips: [] })], { do: 'create', attempt: 1 }],
    [
      'one of the host network, asked for',
      { hostNetwork: true },
      [sandbox({ network: 'node', ips: [] })],
      { do: 'keep', id: 's0' },
    ],
    ['one of the pod network, host asked for', { hostNetwork: true }, [sandbox()], { do: 'create', attempt: 1 }],
  ])('%s', (_, spec, sandboxes, expected) => {
    expect(sandboxNeeded(pod(spec), observed([], sandboxes))).toMatchObject(expected);
  });

  test('is waited for before any container starts', () => {
    expect(words(planOf(podOf('Always', ['i1'], ['main']), [], []))).toEqual({
      sandbox: 'create 0',
      finished: false,
      i1: 'hold firstInTurn',
      main: 'hold noSandbox',
    });
  });

  test.each([
    ['the first regular container', [], { a: 'hold firstInTurn', b: 'hold noSandbox' }],
    ['the next, where that one ended for good', [ended('a', 0)], { a: 'hold noSandbox', b: 'hold firstInTurn' }],
  ])('that is still to be made: first in turn is %s', (_, containers, expected) => {
    expect(containerWords(planOf(podOf('OnFailure', [], ['a', 'b']), containers, lost))).toEqual(expected);
  });

  test('that is lost takes its containers with it: what still runs is stopped before another is made', () => {
    const plan = planOf(podOf('Always', ['s+'], ['a', 'b']), [instance('a'), ended('b', 1), instance('s')], lost);
    expect(words(plan)).toEqual({
      sandbox: 'create 1',
      finished: false,
      s: 'stop sandboxLost',
      a: 'stop sandboxLost',
      b: 'hold noSandbox',
    });
  });

  test('that was replaced: what still runs in the old one is stopped first', () => {
    const sandboxes = [sandbox({ id: 's1', attempt: 1 }), ...lost];
    expect(words(planOf(podOf('Always', [], ['a', 'b']), [instance('a')], sandboxes))).toEqual({
      sandbox: 'keep s1',
      finished: false,
      a: 'stop sandboxLost',
      b: 'run',
    });
  });
});

describe('whether another sandbox is made', () => {
  test.each([
    ['nothing was made', [], 'create 1'],
    ['a container was made only', [instance('main', { state: 'created', ...neverStarted })], 'create 1'],
    ['a container could not be started', [ended('main', 128, { reason: 'StartError', ...neverStarted })], 'create 1'],
    ['a container ran', [ended('main', 137)], 'none'],
  ])('B016 restartPolicy Never: %s before the sandbox died', (_, containers, expected) => {
    const plan = planOf(podOf('Never', [], ['main']), containers, lost);
    expect(words(plan)).toMatchObject({ sandbox: expected, finished: expected === 'none' });
  });

  test('B016 restartPolicy Never: what never started in the dead sandbox starts in the next one', () => {
    const sandboxes = [sandbox({ id: 's1', attempt: 1 }), ...lost];
    const containers = [ended('main', 128, { reason: 'StartError', ...neverStarted })];
    expect(words(planOf(podOf('Never', [], ['main']), containers, sandboxes))).toEqual({
      sandbox: 'keep s1',
      finished: false,
      main: 'run',
    });
  });

  test('restartPolicy Never: what could not be started in a sandbox that stands has ended for good', () => {
    const containers = [ended('main', 128, { reason: 'StartError', ...neverStarted })];
    expect(words(planOf(podOf('Never', [], ['main']), containers))).toMatchObject({ finished: true });
  });

  test('restartPolicy Never: what still runs after the sandbox died is stopped, then the pod is over', () => {
    const never = podOf('Never', [], ['a', 'b']);
    expect(words(planOf(never, [instance('a')], lost))).toEqual({
      sandbox: 'none',
      finished: false,
      a: 'stop podStopping',
      b: 'hold podStopping',
    });
    expect(words(planOf(never, [ended('a', 137)], lost))).toMatchObject({ sandbox: 'none', finished: true });
  });

  test('a container’s own restartPolicy outranks the pod’s Never', () => {
    const desired = podOf('Never', [], ['main']);
    for (const c of desired.spec.containers) c.restartPolicy = 'Always';
    expect(words(planOf(desired, [ended('main', 1)], lost))).toMatchObject({ sandbox: 'create 1', finished: false });
  });

  test.each([
    ['the sandbox was stopped', lost],
    ['the sandbox was removed', []],
  ])('B017 an OnFailure pod that succeeded gets no other: %s', (_, sandboxes) => {
    expect(words(planOf(podOf('OnFailure', ['i1'], ['main']), [ended('main', 0)], sandboxes))).toEqual({
      sandbox: 'none',
      finished: true,
      i1: 'hold completed',
      main: 'hold completed',
    });
  });

  test('B017 a pod whose API phase is terminal gets no other, even with no trace of it left', () => {
    for (const phase of ['Succeeded', 'Failed']) {
      const desired = { ...podOf('Always', [], ['main']), status: { phase } };
      expect(words(planOf(desired, [], []))).toMatchObject({ sandbox: 'none', finished: true });
    }
  });

  test('OnFailure: only what did not succeed is started again in it', () => {
    const desired = podOf('OnFailure', [], ['a', 'b']);
    const ends = [ended('a', 0), ended('b', 1)];
    expect(words(planOf(desired, ends, lost))).toMatchObject({ sandbox: 'create 1', finished: false });
    const next = [sandbox({ id: 's1', attempt: 1 }), ...lost];
    expect(words(planOf(desired, ends, next))).toMatchObject({ a: 'hold completed', b: 'run' });
  });
});
