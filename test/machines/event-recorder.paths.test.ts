import { describe, expect, test } from '@jest/globals';
import type { AgentEnv, EventHappened, ParentRef } from '../../machines/agent.types.ts';
import type { CoreEvent } from '../../machines/kubernetes.types.ts';
import { eventRecorderMachine } from '../../machines/syncloop/event-recorder.machine.ts';
import type { EventRecorderRequest } from '../../machines/syncloop/event-recorder.types.ts';
import { seriesOf } from '../../machines/syncloop/policy/correlate-events.ts';
import { AgentError } from '../../machines/agent-error.types.ts';
import { deferred, drive, type Outcome } from '../support/drive.ts';
import { expectAllTransitionsWalked, fail, ok, oneAtATime, walk } from '../support/paths.ts';

const DRAIN = 5000;
const input = (world: { env: AgentEnv; parent: ParentRef }) => ({ ...world, nodeName: 'n1', drainMs: DRAIN });
const start = () => drive(deferred(eventRecorderMachine), { input });
type Run = ReturnType<typeof start>;

const pod = (name: string) => ({ name, namespace: 'shop', uid: `uid-${name}` });
const told = (message: string, name = 'web'): EventHappened => ({
  type: 'event.happened',
  event: { type: 'Normal', reason: 'Started', message, pod: pod(name) },
});
const refused = (reason: string): Outcome => ({
  kind: 'fail',
  error: new AgentError({ op: 'create event', reason, message: `${reason} said the server`, transient: false }),
  label: `refused ${reason}`,
});
const away = fail('UNAVAILABLE');
const GATHER = 500;
/** Tells of an event, and waits for as long as more may come. */
function say(run: Run, event: EventHappened): void {
  run.send(event);
  run.advance(GATHER);
}
const created = (run: Run) =>
  run.calls.filter(({ src }) => src === 'createEvent').map(({ input }) => (input as { event: CoreEvent }).event);
const patched = (run: Run) => run.calls.filter(({ src }) => src === 'patchEvent').map(({ input }) => input);
const problems = (run: Run) =>
  run.parent.ofType<{ type: string; message: string }>('recorder.problem').map(({ message }) => message);
const drained = (run: Run) => run.parent.ofType<{ type: string; left: number }>('recorder.drained');

describe('eventRecorder', () => {
  test('every transition is walked, one write at a time, and it ends once', () => {
    const report = walk(eventRecorderMachine, {
      inputs: { start: input },
      events: (run): EventRecorderRequest[] => [
        ...(run.calls.length < 4 ? [told('a'), told('b')] : []),
        { type: 'recorder.drain' },
      ],
      outcomes: {
        createEvent: [ok(), refused('AlreadyExists'), refused('Forbidden'), away],
        patchEvent: [ok(), refused('NotFound'), refused('Forbidden'), away],
      },
      key: ({ context: { queue, writing, correlation, isDraining, failures } }) => [
        queue.length,
        queue.map((key) => seriesOf(correlation, key)?.isWritten),
        writing?.event.message,
        isDraining,
        failures > 0,
      ],
      invariants: {
        'one write': oneAtATime(['createEvent', 'patchEvent']),
        'one end': (run) => (drained(run).length > 1 ? 'drained twice' : undefined),
      },
      maxDepth: 9,
    });
    expectAllTransitionsWalked(report);
  });

  test('events that come at once are gathered for a moment, those of a drain are not', () => {
    const run = start();
    for (const message of ['a', 'a', 'b']) run.send(told(message));
    run.advance(GATHER - 1);
    expect(run.calls).toEqual([]);
    run.advance(1);
    run.settle('createEvent', ok());
    expect(created(run)).toMatchObject([{ count: 2 }, { message: 'b' }]);
    const ending = start();
    ending.send(told('a'));
    ending.send({ type: 'recorder.drain' });
    expect(created(ending)).toHaveLength(1);
  });

  test('an event is created; when it happens again its count is written', () => {
    const run = start();
    say(run, told('a'));
    run.settle('createEvent', ok());
    say(run, told('a'));
    expect(patched(run)).toEqual([
      {
        namespace: 'shop',
        name: created(run)[0]?.metadata.name,
        patch: { count: 2, lastTimestamp: '2026-01-01T00:00:00Z', message: 'a' },
      },
    ]);
  });

  test('what happens again while it waits or is written costs one more write, with all of it counted', () => {
    const run = start();
    for (let times = 0; times < 5; times += 1) say(run, told('a'));
    expect(created(run).map(({ count }) => count)).toEqual([1]);
    run.settle('createEvent', ok());
    run.settle('patchEvent', ok());
    expect(run.pending()).toEqual([]);
    expect(patched(run)).toMatchObject([{ patch: { count: 5 } }]);
  });

  test('B182 tens of thousands of equal events are a handful of writes', () => {
    const run = start();
    say(run, told('a'));
    for (let times = 1; times < 10_000; times += 1) {
      run.send(told('a'));
      if (times % 100 === 0) for (const call of run.pending()) run.settle(call, ok());
    }
    expect(run.calls.length).toBeLessThanOrEqual(25);
    expect(run.snapshot.context.queue.length).toBeLessThanOrEqual(1);
  });

  test('an event that the API server has forgotten is created again, counted on', () => {
    const run = start();
    say(run, told('a'));
    run.settle('createEvent', ok());
    say(run, told('a'));
    run.settle('patchEvent', refused('NotFound'));
    expect(created(run)).toMatchObject([{ count: 1 }, { count: 2 }]);
    run.settle('createEvent', ok());
    say(run, told('a'));
    expect(patched(run).at(-1)).toMatchObject({ patch: { count: 3 } });
  });

  test('through an outage events wait in their order, which is told of once', () => {
    const run = start();
    for (const message of ['a', 'b', 'c']) say(run, told(message));
    for (let tries = 0; tries < 10; tries += 1) {
      run.settle('createEvent', away);
      expect(run.untilTimer()).toBeLessThanOrEqual(36_000);
      run.advance(run.untilTimer() ?? 0);
      run.advance(GATHER);
    }
    for (let each = 0; each < 3; each += 1) run.settle('createEvent', ok());
    expect(
      created(run)
        .slice(-3)
        .map(({ message }) => message),
    ).toEqual(['a', 'b', 'c']);
    expect(problems(run)).toEqual([
      'events cannot be written, which is tried again until they can: UNAVAILABLE happened',
    ]);
  });

  test('an event that is refused is left out, and holds up no other', () => {
    const run = start();
    say(run, told('a'));
    say(run, told('b'));
    run.settle('createEvent', refused('Forbidden'));
    expect(problems(run)).toEqual(['event Started of shop/web is refused and left out: Forbidden said the server']);
    expect(created(run).at(-1)?.message).toBe('b');
  });

  test('no more than 1000 wait: the oldest are left out, told when it begins and, with their number, when it is over', () => {
    const run = start();
    say(run, told('a', 'p0'));
    for (let i = 1; i < 1011; i += 1) run.send(told('a', `p${i}`));
    expect(run.snapshot.context.queue).toHaveLength(1000);
    while (run.pending().length > 0) run.settle('createEvent', ok());
    expect(created(run)).toHaveLength(1001);
    expect(created(run)[1]?.involvedObject.name).toBe('p11');
    expect(problems(run)).toEqual([
      'more than 1000 events wait to be written: the oldest are left out until fewer do',
      '10 events were left out',
    ]);
  });

  describe('at a drain', () => {
    test('it ends at once where nothing waits', () => {
      const run = start();
      run.send({ type: 'recorder.drain' });
      expect(drained(run)).toEqual([{ type: 'recorder.drained', left: 0 }]);
      expect(run.snapshot.status).toBe('done');
    });

    test('all that waits is written first, and what still comes', () => {
      const run = start();
      say(run, told('a'));
      run.send({ type: 'recorder.drain' });
      say(run, told('b'));
      run.settle('createEvent', ok());
      expect(drained(run)).toEqual([]);
      run.settle('createEvent', ok());
      expect(drained(run)).toEqual([{ type: 'recorder.drained', left: 0 }]);
    });

    test('a wait for the API server is cut short, and what cannot be written in time is counted', () => {
      const run = start();
      say(run, told('a'));
      say(run, told('b'));
      run.settle('createEvent', away);
      run.send({ type: 'recorder.drain' });
      expect(run.pending('createEvent')).toHaveLength(1);
      run.advance(DRAIN);
      expect(drained(run)).toEqual([{ type: 'recorder.drained', left: 2 }]);
    });
  });
});
