import { describe, expect, test } from '@jest/globals';
import { succeeded } from '../../../machines/pod/policy/exit-success.ts';
import type { ObservedContainer } from '../../../machines/runtime.types.ts';
import { container, ended, instance, pod, sandbox } from './fixtures.ts';
import { containerWords, planOf, podOf, words } from './plan-summary.ts';

const created = (name: string) => instance(name, { state: 'created', startedAt: undefined });
const INITIALIZING = 'hold initializing';
const COMPLETED = 'hold completed';
/** Sandbox `s0` was lost, `s1` is the pod's. */
const renewed = [sandbox({ id: 's1', attempt: 1 }), sandbox({ state: 'notReady' })];
const inNew = { sandboxId: 's1' };

describe('init containers run one after another', () => {
  const desired = podOf('Always', ['i1', 'i2'], ['main']);
  test.each<[string, ObservedContainer[], [string, string, string]]>([
    ['nothing yet', [], ['run', INITIALIZING, INITIALIZING]],
    ['the first was made', [created('i1')], ['run', INITIALIZING, INITIALIZING]],
    ['the first runs', [instance('i1')], ['run', INITIALIZING, INITIALIZING]],
    ['the first failed', [ended('i1', 1)], ['run', INITIALIZING, INITIALIZING]],
    ['the first is in an unknown state', [instance('i1', { state: 'unknown' })], ['run', INITIALIZING, INITIALIZING]],
    ['the first succeeded', [ended('i1', 0)], [COMPLETED, 'run', INITIALIZING]],
    ['the second runs', [instance('i2'), ended('i1', 0)], [COMPLETED, 'run', INITIALIZING]],
    ['the second failed', [ended('i2', 1), ended('i1', 0)], [COMPLETED, 'run', INITIALIZING]],
    ['the second runs, the first’s record was pruned', [instance('i2')], [COMPLETED, 'run', INITIALIZING]],
    ['the second succeeded, the first’s record was pruned', [ended('i2', 0)], [COMPLETED, COMPLETED, 'run']],
    ['the regular one was made', [created('main')], [COMPLETED, COMPLETED, 'run']],
    ['the regular one ended', [ended('main', 1)], [COMPLETED, COMPLETED, 'run']],
  ])('%s', (_, containers, [i1, i2, main]) => {
    expect(containerWords(planOf(desired, containers))).toEqual({ i1, i2, main });
  });

  test('B036 a regular container that runs proves that init is over, though its record was pruned', () => {
    expect(containerWords(planOf(desired, [instance('main')]))).toEqual({ i1: COMPLETED, i2: COMPLETED, main: 'run' });
  });

  test('a failed one ends the pod under Never, and is run again under OnFailure', () => {
    expect(words(planOf(podOf('Never', ['i1'], ['main']), [ended('i1', 1)]))).toMatchObject({ finished: true });
    expect(words(planOf(podOf('OnFailure', ['i1'], ['main']), [ended('i1', 1)]))).toMatchObject({ i1: 'run' });
  });

  test('a failed one under Never: sidecars are stopped, then the pod is finished', () => {
    const never = podOf('Never', ['s+', 'i1'], ['main']);
    expect(words(planOf(never, [ended('i1', 1), instance('s')]))).toEqual({
      sandbox: 'keep s0',
      finished: false,
      s: 'stop podStopping',
      i1: 'hold podStopping',
      main: 'hold podStopping',
    });
    expect(words(planOf(never, [ended('i1', 1), ended('s', 143)]))).toMatchObject({ finished: true });
  });

  test('B038 one that lost a process for want of memory did not succeed, whatever its exit code', () => {
    const oom = ended('i1', 0, { reason: 'OOMKilled' });
    expect(succeeded(oom)).toBe(false);
    expect(planOf(podOf('Never', ['i1'], ['main']), [oom]).finished).toBe(true);
    expect(words(planOf(podOf('OnFailure', ['i1'], ['main']), [oom]))).toMatchObject({ i1: 'run', main: INITIALIZING });
  });

  test.each([
    [0, 'Completed', true],
    [0, undefined, true],
    [0, 'OOMKilled', false],
    [137, 'OOMKilled', false],
    [1, 'Error', false],
    [undefined, undefined, false],
  ])('exit code %p with reason %p', (exitCode, reason, expected) => {
    expect(succeeded({ exitCode, reason })).toBe(expected);
  });
});

describe('init begins anew in a new sandbox', () => {
  const desired = podOf('Always', ['i1', 's+', 'i2'], ['main']);
  const before = [ended('main', 137), ended('i2', 0), ended('s', 137), ended('i1', 0)];
  test.each<[string, ObservedContainer[], string[]]>([
    ['B039 nothing ran in it', before, ['run', INITIALIZING, INITIALIZING, INITIALIZING]],
    ['B032 the first ended', [ended('i1', 0, inNew), ...before], [COMPLETED, 'run', INITIALIZING, INITIALIZING]],
    ['B032 the sidecar runs', [instance('s', inNew), ...before], [COMPLETED, 'run', 'run', INITIALIZING]],
    ['B033 the second runs', [instance('i2', inNew), ...before], [COMPLETED, 'run', 'run', INITIALIZING]],
    ['B032 all ended', [ended('i2', 0, inNew), ...before], [COMPLETED, 'run', COMPLETED, 'run']],
  ])('%s', (_, containers, [i1, s, i2, main]) => {
    expect(containerWords(planOf(desired, containers, renewed))).toEqual({ i1, s, i2, main });
  });

  test('B035 progress in the lost sandbox does not count, not even that of an init container that ran', () => {
    const plan = planOf(podOf('Always', ['i1', 'i2'], ['main']), [ended('i2', 137), ended('i1', 0)], renewed);
    expect(containerWords(plan)).toEqual({ i1: 'run', i2: INITIALIZING, main: INITIALIZING });
  });

  test('OnFailure: a regular container that had succeeded waits for nothing', () => {
    const plan = planOf(podOf('OnFailure', ['i1'], ['a', 'b']), [ended('a', 0), ended('b', 1)], renewed);
    expect(containerWords(plan)).toEqual({ i1: 'run', a: COMPLETED, b: INITIALIZING });
  });
});

describe('sidecars', () => {
  const desired = podOf('Always', ['s1+', 's2+'], ['main']);
  test.each<[string, ObservedContainer[], [string, string, string]]>([
    ['B041 the first comes first', [], ['run', INITIALIZING, INITIALIZING]],
    ['B041 one that was made is not enough', [created('s1')], ['run', INITIALIZING, INITIALIZING]],
    ['B041 one that runs lets the next start', [instance('s1')], ['run', 'run', INITIALIZING]],
    ['B041 all run', [instance('s2'), instance('s1')], ['run', 'run', 'run']],
    ['one that ended meanwhile starts again', [instance('s2'), ended('s1', 0)], ['run', 'run', 'run']],
    ['the newest ended before init was over', [ended('s2', 1), instance('s1')], ['run', 'run', INITIALIZING]],
    ['after init, all run whatever their records', [instance('main')], ['run', 'run', 'run']],
  ])('%s', (_, containers, [s1, s2, main]) => {
    expect(containerWords(planOf(desired, containers))).toEqual({ s1, s2, main });
  });

  test.each(['Never', 'OnFailure'] as const)('B030 under %s one that failed runs again while main runs', (policy) => {
    const plan = planOf(podOf(policy, ['s+'], ['main']), [instance('main'), ended('s', 1)]);
    expect(words(plan)).toEqual({ sandbox: 'keep s0', finished: false, s: 'run', main: 'run' });
  });

  test('are stopped in reverse order once the regular containers have ended for good', () => {
    const never = podOf('Never', ['s1+', 's2+'], ['main']);
    const end = ended('main', 0);
    const both = planOf(never, [end, instance('s2'), instance('s1')]);
    expect(words(both)).toEqual({
      sandbox: 'keep s0',
      finished: false,
      s1: 'hold podStopping',
      s2: 'stop podStopping',
      main: 'hold podStopping',
    });
    const one = planOf(never, [end, ended('s2', 143), instance('s1')]);
    expect(words(one)).toMatchObject({ finished: false, s1: 'stop podStopping', s2: 'hold podStopping' });
    expect(words(planOf(never, [end, ended('s2', 143), ended('s1', 143)]))).toMatchObject({ finished: true });
  });

  test('that ended are not run again once the regular containers have ended for good', () => {
    const plan = planOf(podOf('OnFailure', ['s+'], ['main']), [ended('main', 0), ended('s', 1)]);
    expect(words(plan)).toMatchObject({ finished: true, s: COMPLETED });
  });

  test('keep an Always pod’s regular containers company for ever', () => {
    const plan = planOf(podOf('Always', ['s+'], ['main']), [ended('main', 0), instance('s')]);
    expect(words(plan)).toMatchObject({ finished: false, s: 'run', main: 'run' });
  });
});

test('a pod without init containers starts its regular ones at once', () => {
  expect(containerWords(planOf(pod({ containers: [container('main')] }), []))).toEqual({ main: 'run' });
});
