import { expect, test } from '@jest/globals';
import { endIsUnproven } from '../../../machines/pod/policy/pod-view.ts';
import { instance, observed, sandbox, T0 } from '../../support/fixtures.ts';

const over = { sandbox: { do: 'none' }, finished: true, replaced: [], containers: {} } as const;

test('B016 an instance that could not start ends no pod before its sandbox was looked at again', () => {
  const view = (at: number, startedAt?: number) =>
    observed({
      sandboxes: [sandbox({ at: T0 })],
      containers: [{ ...instance({ state: 'exited', at }), startedAt }],
    });
  expect(endIsUnproven(over, view(T0 + 1))).toBe(true);
  expect(endIsUnproven(over, view(T0))).toBe(false);
  expect(endIsUnproven(over, view(T0 + 1, T0))).toBe(false);
  expect(endIsUnproven({ ...over, finished: false }, view(T0 + 1))).toBe(false);
});
