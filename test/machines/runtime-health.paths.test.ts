import { describe, expect, test } from '@jest/globals';
import type { AgentEnv, ParentRef } from '../../machines/agent.types.ts';
import { runtimeHealthMachine } from '../../machines/node/runtime-health.machine.ts';
import { deferred, drive } from '../support/drive.ts';
import { expectAllTransitionsWalked, fail, ok, oneAtATime, walk } from '../support/paths.ts';

const input = (world: { env: AgentEnv; parent: ParentRef }) => ({ ...world, periodMs: 5000 });
const answer = (runtimeReady: boolean, networkReady: boolean, message = '') =>
  ok({ runtimeReady, networkReady, message }, `${runtimeReady}/${networkReady}`);
const start = () => drive(deferred(runtimeHealthMachine), { input });
const verdicts = (run: Pick<ReturnType<typeof start>, 'parent'>) =>
  run.parent.ofType<{ type: string; health: string }>('health.changed').map(({ health }) => health);

describe('runtimeHealth', () => {
  test('every transition is walked, with one question at a time and a report for each verdict', () => {
    const report = walk(runtimeHealthMachine, {
      inputs: { start: input },
      events: () => [],
      outcomes: { checkRuntime: [answer(true, true), answer(true, false), answer(false, false), fail('UNAVAILABLE')] },
      invariants: {
        'one question': oneAtATime(['checkRuntime']),
        'no verdict is reported twice in a row': (run) => {
          const said = verdicts(run);
          return said.some((m, i) => m === said[i - 1]) ? `reported ${said.join(' ')}` : undefined;
        },
      },
    });
    expectAllTransitionsWalked(report);
    expect(report.cutOff).toBe(0);
  });

  test('nothing is said before the runtime was asked; the first answer is told', () => {
    const run = start();
    expect(run.parent.sent).toEqual([]);
    run.settle('checkRuntime', answer(true, true));
    expect(run.parent.sent).toEqual([{ type: 'health.changed', health: 'healthy', message: '' }]);
  });

  test('an answer like the one before is not told again', () => {
    const run = start();
    run.settle('checkRuntime', answer(true, true));
    run.advance(5000);
    run.settle('checkRuntime', answer(true, true));
    expect(verdicts(run)).toEqual(['healthy']);
  });

  test('a runtime that cannot be reached is unhealthy at once, with the reason, and asked each second until it is back', () => {
    const run = start();
    run.settle('checkRuntime', fail('UNAVAILABLE', 'connection refused'));
    expect(run.parent.sent[0]).toEqual({ type: 'health.changed', health: 'unhealthy', message: 'connection refused' });
    expect(run.untilTimer()).toBe(1000);
    run.advance(1000);
    run.settle('checkRuntime', answer(true, true));
    expect(verdicts(run)).toEqual(['unhealthy', 'healthy']);
    expect(run.untilTimer()).toBe(5000);
  });

  test('a runtime that is not ready is unhealthy; a missing pod network alone is not', () => {
    const run = start();
    run.settle('checkRuntime', answer(false, false, 'shutting down'));
    run.advance(1000);
    run.settle('checkRuntime', answer(true, false, 'cni config uninitialized'));
    expect(verdicts(run)).toEqual(['unhealthy', 'networkNotReady']);
    expect(run.untilTimer()).toBe(5000);
  });

  test('a runtime that is lost and one that is back are told of once, with what happens next', () => {
    const run = start();
    run.settle('checkRuntime', answer(true, true));
    expect(run.parent.events()).toEqual([]);
    for (let second = 0; second < 3; second += 1) {
      run.advance(second ? 1000 : 5000);
      run.settle('checkRuntime', fail('UNAVAILABLE', 'connection refused'));
    }
    const lost =
      'Warning RuntimeNotReady container runtime is not ready: connection refused; no pod is added until it is back, ' +
      'what it runs goes on; it is asked every 1 s';
    expect(run.parent.events()).toEqual([lost]);
    run.advance(1000);
    run.settle('checkRuntime', answer(true, true));
    expect(run.parent.events()).toEqual([
      lost,
      'Normal RuntimeReady container runtime is back after 3 s; all that it has is listed, and pods are added again',
    ]);
  });

  test('a pod network that is missing is told of, and that it has come', () => {
    const run = start();
    run.settle('checkRuntime', answer(true, false, 'cni config uninitialized'));
    run.advance(5000);
    run.settle('checkRuntime', answer(true, true));
    expect(run.parent.events()).toEqual([
      'Warning NetworkNotReady network is not ready: cni config uninitialized; only pods of the host network start until it is',
      'Normal NetworkReady network is ready: pods of every kind start',
    ]);
  });

  test('a runtime that does not answer is told of once, and is waited for', () => {
    const run = start();
    run.advance(9_999);
    expect(run.parent.sent).toEqual([]);
    run.advance(60_000);
    expect(
      run.parent.ofType<{ type: string; event: { reason: string; message: string } }>('event.happened'),
    ).toMatchObject([
      { event: { reason: 'RuntimeNotReady', message: expect.stringContaining('has not answered for 10 s') } },
    ]);
    expect(verdicts(run)).toEqual([]);
  });

  test('a question that is not answered is not asked twice', () => {
    const run = start();
    run.advance(60_000);
    expect(run.calls).toHaveLength(1);
  });
});
