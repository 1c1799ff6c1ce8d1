import { expect, test } from '@jest/globals';
import { reasonsAfter } from '../../../services/live/cause.ts';
import type { Step } from '../../../services/live/cause.types.ts';
import { instance } from '../../support/fixtures.ts';

const MANIFEST = { by: 'manifestAdded', detail: 'a manifest of the file source' };
const snapshot = (context: object) => ({ context: { plan: { do: 'run' }, instances: [], ...context } });
const step = (before: object, after: object) =>
  ({
    machine: 'container',
    event: { type: 'xstate.done.actor.0.container.starting' },
    before: snapshot(before),
    after: snapshot(after),
    reasons: { own: MANIFEST },
    asked: () => MANIFEST,
    effect: () => 'startContainer',
  }) as unknown as Step;
const ended = instance({ id: 'c1', state: 'exited', exitCode: 3 });

test('an instance that ended before it was seen to run is the reason of what follows', () => {
  const { own } = reasonsAfter(step({ target: { id: 'c1' } }, { instances: [ended] }));
  expect(own).toEqual({ by: 'exit', detail: 'container app ended with code 3' });
});

test('one that was there already, or that another start made, is not', () => {
  expect(reasonsAfter(step({ target: { id: 'c1' }, instances: [ended] }, { instances: [ended] })).own).toBe(MANIFEST);
  expect(reasonsAfter(step({ target: { id: 'c2' } }, { instances: [ended] })).own).toBe(MANIFEST);
});
