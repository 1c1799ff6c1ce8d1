import { describe, expect, test } from '@jest/globals';
import { container, ended, instance, pod, sandbox, T0 } from './fixtures.ts';
import { containerWords, planOf, podOf, words } from './plan-summary.ts';

const POLICIES = ['Always', 'OnFailure', 'Never'] as const;

describe('regular containers', () => {
  test.each([
    ['was never made', undefined, ['run', 'run', 'run']],
    ['was made and not started', instance('main', { state: 'created', startedAt: undefined }), ['run', 'run', 'run']],
    ['runs', instance('main'), ['run', 'run', 'run']],
    ['is in an unknown state', instance('main', { state: 'unknown' }), ['run', 'run', 'run']],
    ['ended well', ended('main', 0), ['run', 'hold completed', 'hold completed']],
    ['ended badly', ended('main', 1), ['run', 'run', 'hold completed']],
    ['was killed for memory', ended('main', 0, { reason: 'OOMKilled' }), ['run', 'run', 'hold completed']],
    ['ended without a record', ended('main', 0, { exitCode: undefined }), ['run', 'run', 'hold completed']],
  ])('one that %s', (_, newest, expected) => {
    const plans = POLICIES.map((policy) => planOf(podOf(policy, [], ['main']), newest ? [newest] : []));
    expect(plans.map((plan) => words(plan).main)).toEqual(expected);
    expect(plans.map(({ finished }) => finished)).toEqual(expected.map((word) => word === 'hold completed'));
  });

  test('all run at once; their order is the pod’s', () => {
    expect(containerWords(planOf(podOf('Always', [], ['a', 'b', 'c']), []))).toEqual({ a: 'run', b: 'run', c: 'run' });
  });

  test('B014 restartPolicy Never: one that was killed just after its start does not run again', () => {
    const killed = ended('main', 137, { startedAt: T0 + 20, finishedAt: T0 + 50 });
    expect(words(planOf(podOf('Never', [], ['main']), [killed]))).toMatchObject({
      finished: true,
      main: 'hold completed',
    });
  });

  test('a pod is finished only when all of them have ended for good', () => {
    const plan = planOf(podOf('Never', [], ['a', 'b']), [ended('a', 0), instance('b')]);
    expect(words(plan)).toEqual({ sandbox: 'keep s0', finished: false, a: 'hold completed', b: 'run' });
  });

  test('a container’s own restartPolicy outranks the pod’s', () => {
    const containers = [container('a', { restartPolicy: 'Never' }), container('b', { restartPolicy: 'OnFailure' })];
    const plan = planOf(pod({ containers }), [ended('a', 1), ended('b', 1)]);
    expect(containerWords(plan)).toEqual({ a: 'hold completed', b: 'run' });
  });

  test('B069 the newest attempt counts, whatever the clock said when it was made', () => {
    const ends = [ended('main', 0, { attempt: 4, createdAt: T0 - 3_600_000 }), ended('main', 1, { attempt: 3 })];
    expect(words(planOf(podOf('OnFailure', [], ['main']), ends))).toMatchObject({ main: 'hold completed' });
  });

  test('one that still runs in a sandbox that is not the pod’s is stopped, though a newer one was made', () => {
    const containers = [instance('main', { sandboxId: 's1', attempt: 1 }), instance('main', { id: 'old' })];
    const sandboxes = [sandbox({ id: 's1', attempt: 1 }), sandbox({ state: 'notReady' })];
    expect(words(planOf(podOf('Always', [], ['main']), containers, sandboxes))).toMatchObject({
      main: 'stop sandboxLost',
    });
  });
});

describe('a changed definition', () => {
  const changed = (policy: (typeof POLICIES)[number]) =>
    pod({ restartPolicy: policy, containers: [container('main', { image: 'busybox:2' })] });

  test.each(POLICIES)('restartPolicy %s: it is stopped, and then run again', (policy) => {
    const desired = changed(policy);
    const stop = planOf(desired, [instance('main')]);
    expect(stop.containers.main).toEqual({
      do: 'stop',
      reason: 'definitionChanged',
      message: 'Container main definition changed, will be restarted',
      gracePeriodSeconds: 30,
    });
    const stopped = [ended('main', 0)];
    const again = planOf(desired, stopped, undefined, stop);
    expect(words(again)).toMatchObject({ main: 'run', finished: false });
    expect(planOf(desired, stopped, undefined, again)).toEqual(again);
  });

  test.each(POLICIES)('restartPolicy %s: set back meanwhile, it is stopped and run again all the same', (policy) => {
    const stop = planOf(changed(policy), [instance('main')]);
    const back = planOf(podOf(policy, [], ['main']), [instance('main')], undefined, stop);
    expect(words(back)).toMatchObject({ main: 'stop definitionChanged' });
    const again = planOf(podOf(policy, [], ['main']), [ended('main', 0)], undefined, back);
    expect(again.containers.main).toEqual({ do: 'run', reason: 'definitionChanged' });
  });

  test('restartPolicy OnFailure: one whose sandbox died meanwhile is run again in another', () => {
    const stop = planOf(changed('OnFailure'), [instance('main')]);
    const dead = [sandbox({ state: 'notReady' })];
    expect(words(planOf(changed('OnFailure'), [ended('main', 0)], dead, stop))).toMatchObject({
      sandbox: 'create 1',
      finished: false,
    });
  });

  test('what gave way is known only while the runtime has it', () => {
    const stop = planOf(changed('Never'), [instance('main')]);
    expect(stop.replaced).toEqual(['main-0']);
    expect(planOf(changed('Never'), [], undefined, stop).replaced).toEqual([]);
  });

  test('restartPolicy Never: its successor’s own end is final', () => {
    const desired = changed('Never');
    const before = planOf(desired, [ended('main', 0)], undefined, planOf(desired, [instance('main')]));
    const successor = ended('main', 0, { id: 'main-1', attempt: 1, hash: '' });
    expect(planOf(desired, [successor, ended('main', 0)], undefined, before).finished).toBe(true);
  });

  test('restartPolicy Never: one that had ended by itself before is not run again', () => {
    expect(planOf(changed('Never'), [ended('main', 0)]).finished).toBe(true);
    const before = planOf(podOf('Never', [], ['main']), [ended('main', 0)]);
    expect(planOf(changed('Never'), [ended('main', 0)], undefined, before).finished).toBe(true);
  });

  test('a container made by a program that records no hash is never called changed', () => {
    expect(words(planOf(changed('Always'), [instance('main', { hash: '' })]))).toMatchObject({ main: 'run' });
  });

  test('a sidecar’s is told apart in its event', () => {
    const desired = podOf('Always', ['s+'], ['main']);
    const plan = planOf(desired, [instance('main'), instance('s', { hash: 'other' })]);
    expect(plan.containers.s).toMatchObject({ do: 'stop', message: 'Init container s definition changed' });
    expect(plan.containers.main).toMatchObject({ do: 'run' });
  });

  test('an init container that runs is left to end', () => {
    const plan = planOf(podOf('Never', ['i1'], ['main']), [instance('i1', { hash: 'other' })]);
    expect(containerWords(plan)).toEqual({ i1: 'run', main: 'hold initializing' });
  });

  test('the stop has the grace of the spec, at least 2 s', () => {
    const stopOf = (terminationGracePeriodSeconds: number) =>
      planOf({ ...changed('Always'), spec: { ...changed('Always').spec, terminationGracePeriodSeconds } }, [
        instance('main'),
      ]).containers.main;
    expect(stopOf(7)).toMatchObject({ gracePeriodSeconds: 7 });
    expect(stopOf(0)).toMatchObject({ gracePeriodSeconds: 2 });
  });
});
