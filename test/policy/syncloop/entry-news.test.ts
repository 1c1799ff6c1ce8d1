import { expect, test } from '@jest/globals';
import { entryNews } from '../../../machines/syncloop/policy/entry-news.ts';
import { nodeViewOf } from '../../../machines/syncloop/policy/node-view.ts';
import type { PodEntry } from '../../../machines/syncloop/syncloop.types.ts';
import { nodeView, pod } from '../../support/fixtures.ts';

const entry = (uid: string, more: Partial<PodEntry> = {}): PodEntry => ({
  uid,
  name: uid,
  namespace: 'default',
  source: 'api',
  pod: pod({ uid }),
  ending: false,
  released: false,
  ...more,
});

test('the API server side hears of entries that changed or are gone, and not of orphans', () => {
  const [same, before] = [entry('same'), entry('changed')];
  const after = { ...before, released: true };
  const news = entryNews(
    { same, changed: before, gone: entry('gone') },
    { same, changed: after, orphan: entry('orphan', { pod: undefined, source: undefined }) },
  );
  expect(news).toEqual([
    {
      type: 'pod.wanted',
      uid: 'changed',
      pod: before.pod,
      source: 'api',
      status: undefined,
      released: true,
      ending: false,
    },
    { type: 'pod.forgotten', uid: 'gone' },
  ]);
});

test('a pod that is wanted again while it ends is over for nobody', () => {
  const [ended, running] = [{ phase: 'Succeeded' }, { phase: 'Running' }];
  const again = { pod: pod({ uid: 'a' }), source: 'api' as const };
  const statusOf = (more: Partial<PodEntry>) =>
    (entryNews({}, { a: entry('a', more) })[0] as { status?: object }).status;
  expect(statusOf({ status: ended, ending: true, again })).toBeUndefined();
  expect(statusOf({ status: running, ending: true, again })).toBe(running);
  expect(statusOf({ status: ended, ending: true })).toBe(ended);
});

test('the node that pods are judged against follows its object; what only the agent knows stays', () => {
  const node = {
    metadata: { name: 'n1', labels: { zone: 'a' } },
    spec: { taints: [{ key: 'k', effect: 'NoExecute' }] },
    status: {
      allocatable: { cpu: '1' },
      conditions: [
        { type: 'DiskPressure', status: 'True' },
        { type: 'MemoryPressure', status: 'False' },
      ],
    },
  };
  expect(nodeViewOf(node, nodeView({ allowedUnsafeSysctls: ['net.*'] }))).toEqual(
    nodeView({
      labels: { zone: 'a' },
      taints: [{ key: 'k', effect: 'NoExecute' }],
      allocatable: { cpu: '1' },
      pressure: ['DiskPressure'],
      allowedUnsafeSysctls: ['net.*'],
    }),
  );
});
