import { describe, expect, test } from '@jest/globals';
import type { ImageWaiting, ImagePullInput } from '../../machines/pod/image-pull.types.ts';
import { imagePullMachine } from '../../machines/pod/image-pull.machine.ts';
import { deferred, drive } from '../support/drive.ts';
import { pod, T0 } from '../support/fixtures.ts';
import { expectAllTransitionsWalked, fail, ok, oneAtATime, walk } from '../support/paths.ts';

type World = Pick<ImagePullInput, 'env' | 'parent'>;
const input =
  (over: Partial<ImagePullInput> = {}) =>
  (world: World) => ({
    ...world,
    pod: pod(),
    fieldPath: 'spec.containers{app}',
    image: 'registry.example/app:1',
    imagePullPolicy: 'IfNotPresent' as const,
    ...over,
  });
const target = deferred(imagePullMachine);
const start = (over: Partial<ImagePullInput> = {}) => drive(target, { input: input(over) });
const found = ok({ imageRef: 'sha256:app', sizeBytes: 4096 });
const waits = (run: ReturnType<typeof start>) =>
  run.parent.ofType<ImageWaiting>('image.waiting').map(({ reason, message }) => `${reason}: ${message}`);

describe('the paths of an image pull', () => {
  test('every transition is walked, and no two effects are in flight together', () => {
    const report = walk(imagePullMachine, {
      inputs: {
        IfNotPresent: input(),
        Always: input({ imagePullPolicy: 'Always' }),
        Never: input({ imagePullPolicy: 'Never' }),
        'bad name': input({ image: 'Not A Name' }),
        'after a failure': input({ backoff: { delayMs: 10_000, failedAt: -1000, message: 'no route' } }),
      },
      events: () => [],
      outcomes: {
        inspectImage: [found, ok(undefined, 'absent'), fail('UNAVAILABLE')],
        takePullTurn: [ok(), fail('Unexpected')],
        pullImage: [found, fail('NOT_FOUND')],
      },
      key: ({ context }) => [context.imagePullPolicy, context.backoff?.delayMs],
      invariants: { 'one effect at a time': oneAtATime(['inspectImage', 'takePullTurn', 'pullImage']) },
    });
    expectAllTransitionsWalked(report);
  });
});

describe('an image pull', () => {
  test('uses a present image without a pull', () => {
    const run = start();
    run.settle('inspectImage', found);
    expect(run.snapshot.output).toEqual({ imageRef: 'sha256:app' });
    expect(run.parent.events()).toEqual([
      'Normal Pulled Container image "registry.example/app:1" already present on machine',
    ]);
  });

  test('B122 a present image never waits in the queue of pulls', () => {
    const run = start();
    run.settle('inspectImage', found);
    expect(run.calls.map((c) => c.src)).toEqual(['inspectImage']);
    expect(run.snapshot.status).toBe('done');
  });

  test('asks the runtime for tag latest where the image has neither tag nor digest', () => {
    const run = start({ image: 'busybox' });
    expect(run.pending('inspectImage')[0]?.input).toEqual({ image: 'busybox:latest' });
  });

  test('policy Always pulls a present image', () => {
    const run = start({ imagePullPolicy: 'Always' });
    run.settle('inspectImage', found);
    expect(run.pending().map((c) => c.src)).toEqual(['takePullTurn']);
  });

  test('tells how long the pull took, alone and with its wait, and the size', () => {
    const run = start();
    run.settle('inspectImage', ok(undefined));
    run.advance(100);
    run.advance(400);
    run.settle('takePullTurn', ok());
    run.advance(1250);
    run.settle('pullImage', found);
    expect(run.snapshot.output).toEqual({ imageRef: 'sha256:app' });
    expect(run.parent.events()).toEqual([
      'Normal Pulling Pulling image "registry.example/app:1"',
      'Normal Pulled Successfully pulled image "registry.example/app:1" in 1.25s (1.75s including waiting). Image size: 4096 bytes.',
    ]);
  });

  test('a failed pull is ErrImagePull, then ImagePullBackOff for 10 s, 20 s … 300 s from the failure', () => {
    const run = start();
    const delays: number[] = [];
    for (let i = 0; i < 7; i++) {
      run.settle('inspectImage', ok(undefined));
      run.settle('takePullTurn', ok());
      run.settle('pullImage', fail('NOT_FOUND', 'no such image'));
      expect(run.snapshot.value).toBe('ErrImagePull');
      const failedAt = run.env.now();
      run.advance(1000);
      expect(run.snapshot.value).toBe('ImagePullBackOff');
      run.advance(run.untilTimer()!);
      delays.push(run.env.now() - failedAt);
    }
    expect(delays).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    expect(waits(run).slice(0, 2)).toEqual([
      'ErrImagePull: no such image',
      'ImagePullBackOff: Back-off pulling image "registry.example/app:1": no such image',
    ]);
    expect(run.parent.events().slice(0, 5)).toEqual([
      'Normal Pulling Pulling image "registry.example/app:1"',
      'Warning Failed Failed to pull image "registry.example/app:1": no such image',
      'Warning Failed Error: ErrImagePull',
      'Normal BackOff Back-off pulling image "registry.example/app:1"',
      'Warning Failed Error: ImagePullBackOff',
    ]);
  });

  test('a registry that is unavailable is told by its own reason', () => {
    const run = start();
    run.settle('inspectImage', ok(undefined));
    run.settle('takePullTurn', ok());
    run.settle('pullImage', fail('RegistryUnavailable', 'gone'));
    expect(waits(run)).toEqual(['RegistryUnavailable: gone']);
  });

  test('goes on with the back-off of an earlier actor, and hands its own on', () => {
    const run = start({ backoff: { delayMs: 40_000, failedAt: -30_000, message: 'no route' } });
    run.settle('inspectImage', ok(undefined));
    expect(run.snapshot.value).toBe('ImagePullBackOff');
    expect(run.untilTimer()).toBe(10_000);
    expect(run.parent.ofType<ImageWaiting>('image.waiting')[0]?.backoff?.delayMs).toBe(40_000);
  });

  test.each([
    ['back', -3_600_000],
    ['ahead', 3_600_000],
  ])('a clock that is set %s neither lengthens nor ends the back-off', (_, jump) => {
    const run = start();
    run.settle('inspectImage', ok(undefined));
    run.settle('takePullTurn', ok());
    run.settle('pullImage', fail('UNKNOWN', 'no route'));
    run.setWallClock(T0 + jump);
    const began = run.env.elapsed();
    for (let looks = 0; looks < 100 && run.pending()[0]?.src !== 'takePullTurn'; looks += 1)
      if (run.pending()[0]?.src === 'inspectImage') run.settle('inspectImage', ok(undefined));
      else run.advance(run.untilTimer() ?? 0);
    expect(run.env.elapsed() - began).toBe(10_000);
  });

  test('a back-off does not keep from an image that has come by another way', () => {
    const run = start({ backoff: { delayMs: 40_000, failedAt: 0, message: 'no route' } });
    run.settle('inspectImage', found);
    expect(run.snapshot.status).toBe('done');
  });

  test('B090 an absent image with policy Never says so, and is looked for again', () => {
    const run = start({ imagePullPolicy: 'Never' });
    run.settle('inspectImage', ok(undefined));
    const message = 'Container image "registry.example/app:1" is not present with pull policy of Never';
    expect(waits(run)).toEqual([`ErrImageNeverPull: ${message}`]);
    expect(run.parent.events()).toEqual([
      `Warning ErrImageNeverPull ${message}`,
      'Warning Failed Error: ErrImageNeverPull',
    ]);
    run.advance(10_000);
    run.settle('inspectImage', found);
    expect(run.snapshot.status).toBe('done');
  });

  test('a name that cannot be read is told with the text of the parser, and asks nothing of the runtime', () => {
    const run = start({ image: 'Not A Name' });
    expect(run.calls).toEqual([]);
    expect(waits(run)[0]).toMatch(/^InvalidImageName: Failed to apply default image tag "Not A Name": couldn't parse/);
    expect(run.parent.events()[0]).toMatch(/^Warning InspectFailed Failed to apply default image tag/);
  });

  test('a runtime that cannot say whether it has the image is asked again', () => {
    const run = start();
    run.settle('inspectImage', fail('UNAVAILABLE', 'connection refused'));
    expect(waits(run)).toEqual([
      'ImageInspectError: Failed to inspect image "registry.example/app:1": connection refused',
    ]);
    run.advance(10_000);
    expect(run.pending().map((c) => c.src)).toEqual(['inspectImage']);
  });
});
