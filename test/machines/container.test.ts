import { describe, expect, test } from '@jest/globals';
import type { CreateContainerInput } from '../../machines/pod/container.types.ts';
import { container, currentSandbox, instance, T0 } from '../support/fixtures.ts';
import { emit, fail, ok } from '../support/paths.ts';
import {
  bringUp,
  changes,
  crash,
  desired,
  image,
  lastCreated,
  lastWaiting,
  pending,
  seen,
  start,
  tidy,
  toHold,
  toRun,
  toStop,
  type Run,
} from './container.world.ts';

const attempts = (run: Run) =>
  run.calls.filter((c) => c.src === 'createContainer').map((c) => (c.input as CreateContainerInput).attempt);
const stops = (run: Run) =>
  run.calls
    .filter((c) => c.src === 'stopContainer')
    .map((c) => (c.input as { gracePeriodSeconds: number }).gracePeriodSeconds);

describe('a container starts', () => {
  test('by pull, create and start, and tells its pod the answer at once', () => {
    const run = start();
    expect(pending(run)).toEqual(['imagePull']);
    run.settle('imagePull', image);
    expect(run.pending()[0]?.input).toMatchObject({ attempt: 0, imageRef: 'sha256:app', sandbox: { id: 's1' } });
    expect(changes(run).at(-1)).toMatchObject({ name: 'app', busy: true });
    run.settle('createContainer', ok({ id: 'app-0' }));
    expect(run.pending()[0]).toMatchObject({ src: 'startContainer', input: { id: 'app-0' } });
    const running = lastCreated(run);
    run.settle('startContainer', ok(running));
    expect(run.snapshot.value).toBe('running');
    expect(run.snapshot.hasTag('ready')).toBe(true);
    expect(changes(run).at(-1)).toMatchObject({ instance: running, busy: false, waiting: undefined });
    expect(run.parent.events()).toEqual(['Normal Created Container created', 'Normal Started Container started']);
  });

  test('not before it has a sandbox', () => {
    const run = start({ sandbox: undefined });
    expect(run.snapshot.value).toBe('waiting');
    run.send(desired(run, { sandbox: currentSandbox() }));
    expect(pending(run)).toEqual(['imagePull']);
  });

  test('and one that runs already is adopted without a call', () => {
    const run = start({ instances: [instance({ attempt: 3 })] });
    expect(run.snapshot.value).toBe('running');
    expect(run.calls).toEqual([]);
    expect(run.parent.events()).toEqual([]);
  });

  test('its image waits are passed to the pod, and the pull goes on through pushes that change nothing', () => {
    const run = start();
    run.settle('imagePull', emit({ type: 'image.waiting', reason: 'ErrImagePull', message: 'no' } as never));
    expect(lastWaiting(run)).toEqual({ reason: 'ErrImagePull', message: 'no' });
    run.send(desired(run));
    expect(run.calls).toHaveLength(1);
    expect(run.calls[0]?.state).toBe('pending');
  });

  test('first in turn, its image is got while the sandbox is made, and then it is created at once', () => {
    const run = start({ plan: toHold('firstInTurn'), sandbox: undefined });
    run.settle('imagePull', ok({ imageRef: 'sha256:app' }));
    expect(run.snapshot.value).toBe('waiting');
    run.send(desired(run, { plan: toRun, sandbox: currentSandbox() }));
    expect(pending(run)).toEqual(['createContainer']);
    expect(run.calls.at(-1)?.input).toMatchObject({ imageRef: 'sha256:app', attempt: 0 });
  });

  test('a pull that was begun without a sandbox goes on when there is one, and is asked for once', () => {
    const run = start({ plan: toHold('firstInTurn'), sandbox: undefined });
    run.settle('imagePull', emit({ type: 'image.waiting', reason: 'ErrImagePull', message: 'no' } as never));
    run.send(desired(run, { plan: toRun, sandbox: currentSandbox() }));
    run.settle('imagePull', ok({ imageRef: 'sha256:app' }));
    expect(run.calls.map(({ src }) => src)).toEqual(['imagePull', 'createContainer']);
  });

  test.each([
    ['a minute ago', 60_000, {}],
    ['of another name', 0, { image: 'other:1' }],
  ])('an image that was got %s is asked for again', (_, ms, more) => {
    const run = start({ plan: toHold('firstInTurn'), sandbox: undefined });
    run.settle('imagePull', ok({ imageRef: 'sha256:app' }));
    run.advance(ms);
    run.send(desired(run, { plan: toRun, sandbox: currentSandbox(), container: container(more) }));
    expect(pending(run)).toEqual(['imagePull']);
  });

  test('the back-off of a pull outlives its actor, for the same image only', () => {
    const run = start();
    const backoff = { delayMs: 20_000, failedAt: 0, message: 'no' };
    run.settle(
      'imagePull',
      emit({ type: 'image.waiting', reason: 'ImagePullBackOff', message: 'no', backoff } as never),
    );
    run.send(desired(run, { plan: toHold('noSandbox'), sandbox: undefined }));
    run.send(desired(run, { plan: toRun, sandbox: currentSandbox() }));
    expect(run.pending('imagePull')[0]?.input).toMatchObject({ backoff });
    run.send(desired(run, { container: container({ image: 'other:1' }) }));
    expect(run.pending('imagePull')[0]?.input).toMatchObject({ image: 'other:1', backoff: undefined });
  });
});

describe('a container that ended', () => {
  test('is succeeded at once the first time, then after 10 s, 20 s, 40 s', () => {
    const run = start();
    bringUp(run);
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      run.advance(1000);
      crash(run);
      tidy(run);
      waits.push(run.untilTimer() ?? 0);
      if (run.untilTimer() !== undefined) {
        expect(run.snapshot.value).toBe('crashLoopBackOff');
        run.advance(run.untilTimer()!);
      }
      bringUp(run);
    }
    expect(waits).toEqual([0, 10_000, 20_000, 40_000]);
    expect(attempts(run)).toEqual([0, 1, 2, 3, 4]);
  });

  test('waits as CrashLoopBackOff with the text of the kubelet, told once however often the pod pushes', () => {
    const run = start();
    bringUp(run);
    crash(run);
    bringUp(run);
    run.advance(500);
    crash(run);
    tidy(run);
    run.advance(3000);
    run.send(desired(run));
    run.send(desired(run));
    expect(run.untilTimer()).toBe(7000);
    expect(lastWaiting(run)).toEqual({
      reason: 'CrashLoopBackOff',
      message: 'back-off 10s restarting failed container=app pod=web_default(uid-1)',
    });
    expect(run.parent.events().filter((e) => e.includes('BackOff'))).toEqual([
      'Warning BackOff Back-off restarting failed container app in pod web_default(uid-1)',
    ]);
  });

  test('keeps the newest ended instance only, before a successor is made', () => {
    const run = start({
      instances: [2, 1, 0].map((attempt) => instance({ attempt, state: 'exited', createdAt: T0 + attempt })),
    });
    expect(run.pending()[0]).toMatchObject({ src: 'removeContainer', input: { id: 'app-1' } });
    tidy(run);
    expect(run.snapshot.context.instances.map((i) => i.attempt)).toEqual([2]);
    expect(pending(run)).toEqual(['imagePull']);
  });

  test('B014 is not run a second time by a plan that was made before its end was known', () => {
    const run = start();
    run.settle('imagePull', image);
    run.settle('createContainer', ok({ id: 'app-0' }));
    run.settle('startContainer', ok(lastCreated(run, { state: 'exited', exitCode: 137 })));
    expect(run.snapshot.value).toBe('exited');
    expect(pending(run)).toEqual([]);
    run.send(desired(run, { plan: toHold('completed') }));
    expect(run.snapshot.value).toBe('completed');
    expect(attempts(run)).toEqual([0]);
  });

  test('and whose record was removed behind our back is decided on anew', () => {
    const run = start({ instances: [instance({ attempt: 4 })] });
    run.send(desired(run, { instances: [] }));
    run.settle('imagePull', image);
    expect(attempts(run)).toEqual([5]);
  });

  test('loses its back-off with a new image', () => {
    const run = start();
    bringUp(run);
    crash(run);
    bringUp(run);
    crash(run);
    tidy(run);
    expect(run.snapshot.value).toBe('crashLoopBackOff');
    run.send(desired(run, { container: container({ image: 'fixed:2' }) }));
    expect(pending(run)).toEqual(['imagePull']);
  });
});

describe('the next attempt', () => {
  test('B089 is above the highest log file', () => {
    const run = start({ highestLogAttempt: 4 });
    run.settle('imagePull', image);
    expect(attempts(run)).toEqual([5]);
  });

  test('B069 is above every attempt seen, though the clock says that an older one is newer', () => {
    const run = start();
    bringUp(run);
    crash(run);
    bringUp(run);
    run.setWallClock(T0 - 3_600_000);
    // `at` is the agent's own count of time, which no one sets back.
    crash(run, { finishedAt: T0 - 3_600_000, at: T0 + 1 });
    tidy(run);
    run.advance(run.untilTimer() ?? 0);
    run.settle('imagePull', image);
    expect(attempts(run)).toEqual([0, 1, 2]);
    expect(run.env.now()).toBeLessThan(T0);
  });

  test('B068 a create that timed out and came about is adopted, not made twice', () => {
    const run = start();
    run.settle('imagePull', image);
    run.settle('createContainer', fail('DEADLINE_EXCEEDED'));
    expect(pending(run)).toEqual(['inspectContainer']);
    run.settle('inspectContainer', ok([lastCreated(run, { state: 'created' })]));
    expect(run.pending()[0]).toMatchObject({ src: 'startContainer', input: { id: 'app-0' } });
    run.settle('startContainer', ok(lastCreated(run)));
    expect(run.snapshot.value).toBe('running');
    expect(attempts(run)).toEqual([0]);
  });

  test('B068 a name that stays reserved for an id that never shows up is left: the next number is taken', () => {
    const run = start();
    run.settle('imagePull', image);
    run.settle('createContainer', fail('DEADLINE_EXCEEDED'));
    run.settle('inspectContainer', ok([]));
    run.advance(run.untilTimer()!);
    run.settle('imagePull', image);
    run.settle('createContainer', fail('NameReserved'));
    run.settle('inspectContainer', ok([]));
    run.advance(run.untilTimer()!);
    run.settle('imagePull', image);
    expect(attempts(run)).toEqual([0, 0, 1]);
  });

  test('an instance that another program created and never started is removed first', () => {
    const run = start({ instances: [instance({ state: 'created' })] });
    expect(run.pending()[0]).toMatchObject({ src: 'removeContainer', input: { id: 'app-0' } });
    run.settle('removeContainer', ok());
    expect(changes(run).at(-1)).toMatchObject({ gone: { id: 'app-0', at: T0 }, busy: false });
    run.settle('imagePull', image);
    expect(attempts(run)).toEqual([1]);
  });
});

describe('a call that failed', () => {
  test.each([
    ['CreateContainerConfigError', 'CreateContainerConfigError', 10_000],
    ['INTERNAL', 'CreateContainerError', 1000],
  ])('B090 a create with %s is told as %s, with an event, and tried again', (reason, shown, first) => {
    const run = start();
    run.settle('imagePull', image);
    run.settle('createContainer', fail(reason, 'configmap "x" not found'));
    run.settle('inspectContainer', ok([]));
    expect(run.snapshot.value).toBe('waitingToRetry');
    expect(lastWaiting(run)).toEqual({ reason: shown, message: 'configmap "x" not found' });
    expect(run.parent.events()).toContain('Warning Failed Error: configmap "x" not found');
    expect(run.untilTimer()).toBe(first);
    run.advance(first);
    run.settle('imagePull', image);
    run.settle('createContainer', fail(reason));
    run.settle('inspectContainer', ok([]));
    expect(run.untilTimer()).toBe(10_000);
  });

  test('B090 a start that failed is RunContainerError; its ended instance waits once, not twice', () => {
    const run = start();
    run.settle('imagePull', image);
    run.settle('createContainer', ok({ id: 'app-0' }));
    run.settle('startContainer', fail('RunContainerError', 'exec: "nope": not found'));
    const ended = lastCreated(run, { state: 'exited', exitCode: 128, reason: 'StartError' });
    run.settle('inspectContainer', ok([ended]));
    expect(changes(run).map((c) => c.instance?.id)).toContain('app-0');
    expect(lastWaiting(run)?.reason).toBe('RunContainerError');
    run.send(desired(run));
    expect(run.snapshot.value).toBe('waitingToRetry');
    run.advance(1000);
    expect(pending(run)).toEqual(['imagePull']);
  });

  test.each([
    ['ended', { state: 'exited', exitCode: 128, reason: 'StartError' }],
    ['is created as before', { state: 'created' }],
  ] as const)(
    'a start that fails again, after which its instance %s, is soon CrashLoopBackOff, as from the kubelet’s next sync on',
    (_what, after) => {
      const run = start();
      const failToStart = () => {
        tidy(run);
        run.settle('imagePull', image);
        const made = lastCreated(run);
        run.settle('createContainer', ok({ id: made.id }));
        run.settle('startContainer', fail('RunContainerError', 'exec: "nope": not found'));
        run.settle('inspectContainer', ok([lastCreated(run, after)]));
        run.send(desired(run));
        expect(lastWaiting(run)).toEqual({ reason: 'RunContainerError', message: 'exec: "nope": not found' });
      };
      failToStart();
      run.advance(1000);
      for (const [text, delay] of [
        ['10s', 10_000],
        ['20s', 20_000],
      ] as const) {
        failToStart();
        run.advance(999);
        expect(run.snapshot.value).toBe('waitingToRetry');
        run.advance(1);
        expect(run.snapshot.value).toBe('crashLoopBackOff');
        const message = `back-off ${text} restarting failed container=app pod=web_default(uid-1)`;
        expect(lastWaiting(run)).toEqual({ reason: 'CrashLoopBackOff', message });
        run.send(desired(run));
        expect(run.snapshot.value).toBe('crashLoopBackOff');
        run.advance(delay - 1001);
        expect(pending(run)).toEqual([]);
        run.advance(1);
      }
      const text = 'Warning BackOff Back-off restarting failed container app in pod web_default(uid-1)';
      expect(run.parent.events().filter((event) => event === text)).toHaveLength(2);
    },
  );

  test('nothing is done while the runtime does not answer, and the pod knows that it may be busy', () => {
    const run = start();
    run.settle('imagePull', image);
    run.settle('createContainer', fail('DEADLINE_EXCEEDED'));
    run.settle('inspectContainer', fail('UNAVAILABLE'));
    expect(run.snapshot.value).toBe('waitingToInspect');
    expect(changes(run).at(-1)?.busy).toBe(true);
    run.send(desired(run, { plan: toStop() }));
    expect(pending(run)).toEqual([]);
    run.advance(1000);
    expect(pending(run)).toEqual(['inspectContainer']);
  });

  test.each([
    ['back', -3_600_000],
    ['ahead', 3_600_000],
  ])('a clock that is set %s neither lengthens nor ends the wait', (_, jump) => {
    const run = start();
    run.settle('imagePull', image);
    run.settle('createContainer', fail('INTERNAL'));
    run.settle('inspectContainer', ok([]));
    run.advance(400);
    run.setWallClock(T0 + jump);
    run.send(desired(run));
    expect(pending(run)).toEqual([]);
    expect(run.untilTimer()).toBe(600);
    run.advance(600);
    expect(pending(run)).toEqual(['imagePull']);
  });
});

describe('a container is stopped', () => {
  test('with the text and grace of the plan, and what follows is for the plan to say', () => {
    const run = start({ instances: [instance()] });
    run.send(desired(run, { plan: toStop(30) }));
    expect(stops(run)).toEqual([30]);
    expect(run.parent.events()).toEqual(['Normal Killing Stopping container app']);
    run.settle('stopContainer', ok(seen(run, { state: 'exited' })));
    expect(run.snapshot.value).toBe('exited');
    expect(run.snapshot.hasTag('stopped')).toBe(true);
    expect(changes(run).at(-1)).toMatchObject({ instance: { state: 'exited' }, busy: false });
  });

  test('B001 B007 a shorter grace re-arms the stop, a longer or equal one does not, and it is said once', () => {
    const run = start({ instances: [instance()] });
    run.send(desired(run, { plan: toStop(120) }));
    run.advance(5000);
    run.send(desired(run, { plan: toStop(115) }));
    run.send(desired(run, { plan: toStop(200) }));
    expect(stops(run)).toEqual([120]);
    run.send(desired(run, { plan: toStop(10) }));
    expect(stops(run)).toEqual([120, 10]);
    run.send(desired(run, { plan: toStop(60) }));
    run.send(desired(run, { plan: toStop(0) }));
    expect(stops(run)).toEqual([120, 10, 0]);
    expect(run.parent.events()).toHaveLength(1);
  });

  test('and a stop that fails is never forgotten: it is looked at and asked again with what is left', () => {
    const run = start({ instances: [instance()] });
    run.send(desired(run, { plan: toStop(30) }));
    run.advance(20_000);
    run.settle('stopContainer', fail('DEADLINE_EXCEEDED'));
    run.settle('inspectContainer', ok([seen(run, {})]));
    expect(run.snapshot.value).toBe('waitingToStop');
    expect(run.snapshot.hasTag('mayRun')).toBe(true);
    run.advance(1000);
    expect(stops(run)).toEqual([30, 9]);
    run.advance(60_000);
    run.settle('stopContainer', fail('DEADLINE_EXCEEDED'));
    run.settle('inspectContainer', ok([seen(run, {})]));
    run.advance(1000);
    expect(stops(run)).toEqual([30, 9, 2]);
  });

  test('B022 while its image is pulled: the pull is left at once', () => {
    const run = start();
    run.send(desired(run, { plan: toStop() }));
    expect(run.snapshot.value).toBe('exited');
    expect(run.calls.map((c) => [c.src, c.state])).toEqual([['imagePull', 'abandoned']]);
  });

  test('B022 while it is created: the create ends, and nothing is started', () => {
    const run = start();
    run.settle('imagePull', image);
    run.send(desired(run, { plan: toStop() }));
    expect(pending(run)).toEqual(['createContainer']);
    run.settle('createContainer', ok({ id: 'app-0' }));
    run.settle('inspectContainer', ok([lastCreated(run, { state: 'created' })]));
    expect(run.snapshot.value).toBe('exited');
    expect(run.calls.map((c) => c.src)).not.toContain('startContainer');
    expect(changes(run).at(-1)?.busy).toBe(false);
  });

  test('B022 while it is started: the start ends, and it is stopped', () => {
    const run = start();
    run.settle('imagePull', image);
    run.settle('createContainer', ok({ id: 'app-0' }));
    run.send(desired(run, { plan: toStop(7) }));
    run.settle('startContainer', ok(lastCreated(run)));
    expect(stops(run)).toEqual([7]);
  });

  test('before another runs: of two of a name the older goes, and one of unknown state', () => {
    const twice = start({ instances: [instance({ attempt: 1 }), instance()] });
    expect(twice.pending()[0]).toMatchObject({ src: 'stopContainer', input: { id: 'app-0' } });
    const unknown = start({ instances: [instance({ state: 'unknown' })] });
    expect(unknown.parent.events()).toEqual([
      'Normal Killing Container is in "unknown" state, try killing it before restart',
    ]);
    unknown.settle('stopContainer', ok(seen(unknown, { state: 'unknown' })));
    expect(unknown.pending()[0]).toMatchObject({ src: 'removeContainer', input: { id: 'app-0' } });
  });
});

describe('what it knows', () => {
  test('an older sighting that is pushed down does not undo the answer of an own call', () => {
    const run = start({ instances: [instance({ at: T0 })] });
    run.advance(1000);
    run.send(desired(run, { plan: toStop() }));
    run.settle('stopContainer', ok(seen(run, { state: 'exited' })));
    run.send(desired(run, { plan: toStop(), instances: [instance({ at: T0 + 500 })] }));
    expect(run.snapshot.value).toBe('exited');
    expect(stops(run)).toHaveLength(1);
  });

  test('an instance that the pod has not heard of yet is not taken for gone', () => {
    const run = start();
    run.settle('imagePull', image);
    run.settle('createContainer', ok({ id: 'app-0' }));
    run.settle('startContainer', ok(lastCreated(run)));
    run.send(desired(run, { instances: [] }));
    expect(run.snapshot.value).toBe('running');
    run.send(desired(run));
    run.send(desired(run, { instances: [] }));
    expect(pending(run)).toEqual(['imagePull']);
  });
});

describe('a stop that an earlier agent began', () => {
  const keptStop = { id: 'app-0', killAt: T0 + 12_000, gracePeriodSeconds: 30, reason: 'podStopping' } as const;
  const asked = (run: Run) => run.pending('stopContainer')[0]?.input as { gracePeriodSeconds: number; killAt: number };

  test('is asked for again with what is left, keeps its deadline, and is not told twice', () => {
    const run = start({ keptStop, plan: toStop(30), instances: [instance()] });
    expect(asked(run)).toMatchObject({ gracePeriodSeconds: 12, killAt: T0 + 12_000, reason: 'podStopping' });
    expect(run.parent.events()).toEqual([]);
  });

  test('is finished though the plan is to run: the stop signal is sent', () => {
    const run = start({ keptStop, instances: [instance()] });
    expect(asked(run).gracePeriodSeconds).toBe(12);
    run.settle('stopContainer', ok(seen(run, { state: 'exited', exitCode: 143, finishedAt: T0 })));
    expect(pending(run)).toEqual([]);
  });

  test('is nothing to another instance', () => {
    const run = start({ keptStop, instances: [instance({ attempt: 1 })] });
    expect(run.snapshot.value).toBe('running');
    run.send(desired(run, { plan: toStop(30) }));
    expect(asked(run)).toMatchObject({ gracePeriodSeconds: 30, killAt: T0 + 30_000 });
  });

  test('a wall clock that is set ahead in the middle of a stop takes nothing of its grace', () => {
    const run = start({ plan: toStop(30), instances: [instance()] });
    run.advance(5_000);
    run.setWallClock(T0 + 3_600_000);
    run.settle('stopContainer', fail('UNAVAILABLE'));
    run.settle('inspectContainer', ok([seen(run, {})]));
    run.advance(1_000);
    expect(asked(run)).toMatchObject({ gracePeriodSeconds: 24, killAt: T0 + 3_600_000 + 25_000 });
  });
});

describe('a configuration that cannot be made', () => {
  const configError = fail('CreateContainerConfigError', 'configmap "late" not found');

  test('is tried again each 10 s, and counts as no crash', () => {
    const run = start();
    for (let i = 0; i < 4; i++) {
      run.settle('imagePull', image);
      run.settle('createContainer', configError);
      run.settle('inspectContainer', ok([]));
      expect(run.snapshot.context.waiting).toEqual({
        reason: 'CreateContainerConfigError',
        message: 'configmap "late" not found',
      });
      expect(run.untilTimer()).toBe(10_000);
      run.advance(10_000);
    }
    expect(run.snapshot.value).toBe('pulling');
  });

  test('is tried again at once when an object of the pod changes', () => {
    const run = start();
    run.settle('imagePull', image);
    run.settle('createContainer', configError);
    run.settle('inspectContainer', ok([]));
    run.send({ type: 'objects.changed' });
    expect(run.snapshot.value).toBe('pulling');
  });
});
