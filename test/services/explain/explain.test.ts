import { describe, expect, test } from '@jest/globals';
import { renderExplanation } from '../../../services/explain/render.ts';
import { ExplainWorld } from './explain-world.ts';
import { SITUATIONS } from './situations.ts';

describe('the cause is named, with what is left, of', () => {
  test.each(SITUATIONS)('$what', async ({ cluster, make, about = 'web', headline, waitsFor = [] }) => {
    const it = new ExplainWorld({ cluster });
    await make(it);
    const explained = typeof about === 'string' ? it.pod(about) : it.explain(about);
    for (const part of headline) expect(explained.headline).toContain(part);
    const waits = explained.waitsFor.map(({ text }) => text).join('\n');
    for (const part of waitsFor) expect(waits).toContain(part);
    const own = [explained.headline, ...explained.waitsFor.map(({ text }) => text), ...explained.whyNot];
    // Sentences, whole ones, without the names that only the code knows.
    expect(own.filter((text) => !/^\S.*[.!?]$/s.test(text) || /undefined|\[object|NaN|;;|\.\./.test(text))).toEqual([]);
    expect(it.problems).toEqual([]);
    expect(it.world.crashes).toEqual([]);
  });
});

test('what a container wrote reaches a terminal as text, and cannot look like another line', async () => {
  const it = new ExplainWorld();
  it.put('web');
  it.start();
  await it.wait(5_000);
  const explained = { ...it.pod('web'), headline: 'failed (\u001b[31mred\n\nWhere it is\u009b1m)' };
  const text = renderExplanation(explained, it.world.clock.now());
  expect(text.split('\n')[0]).toBe('failed (\\x1b[31mred\\x0a\\x0aWhere it is\\x9b1m)');
});

describe('an explanation', () => {
  const crashing = async () => {
    const it = new ExplainWorld();
    it.put('web', {}, { command: ['exit', '1', '100'] });
    it.start();
    await it.wait(60_000);
    return it;
  };

  test('says where each part of a pod is, in the words of its chart', async () => {
    const it = await crashing();
    expect(it.pod('web').places).toEqual([
      {
        who: 'pod default/web-node-1',
        state: 'syncing.active',
        meaning: 'The containers follow the plan; the sandbox is made when there is none that can be used.',
        since: expect.any(Number),
      },
      {
        who: 'container app',
        state: 'crashLoopBackOff',
        meaning:
          'Its newest instance ended or could not be started, and the next one starts when the crash back-off is over.',
        since: expect.any(Number),
      },
    ]);
  });

  test('says what happens next by timers and calls, and not by any news that may come', async () => {
    const it = await crashing();
    expect(it.pod('web').next).toEqual([
      {
        who: 'container app',
        when: 'the crash back-off is over (in 11 s)',
        then: 'Finds from the plan, the sandbox and the instances there are what is to be done next.',
      },
    ]);
  });

  test('of a pod that runs says what would make it go on', async () => {
    const it = new ExplainWorld();
    it.put('web');
    it.start();
    await it.wait(5_000);
    expect(it.pod('web').next.map(({ when }) => when)).toContain('the pod is to end');
  });

  test('says how it got here and for what, newest last', async () => {
    const { steps } = (await crashing()).pod('web');
    expect(steps.length).toBeGreaterThan(5);
    expect(steps.at(-1)).toMatchObject({
      ...{
        who: 'container default/web-node-1/app',
        to: 'crashLoopBackOff',
        because: 'container app ended with code 1',
      },
    });
    expect(steps.map(({ at }) => at)).toEqual(steps.map(({ at }) => at).sort((a, b) => a - b));
  });

  test('says why it is not elsewhere', async () => {
    const { whyNot } = (await crashing()).pod('web');
    expect(whyNot.join('\n')).toContain('does not run as a whole, because container app does not run');
    expect(whyNot.join('\n')).toContain('is not Ready: ContainersNotReady');
    expect(whyNot.join('\n')).toContain('does not end, because nobody has asked for that');
  });

  test('is told in full as text', async () => {
    const it = await crashing();
    const text = renderExplanation(it.pod('web'), it.world.clock.now());
    expect(
      text
        .split('\n')
        .filter((line) => /^\S/.test(line))
        .slice(1),
    ).toEqual(['Where it is', 'What it waits for', 'What happens next', 'Why it is not elsewhere', 'How it got here']);
    expect(text).toContain('(crashLoopBackOff, for 29 s)');
  });

  test('of a node that is well expects no end of its watches', async () => {
    const it = new ExplainWorld({ cluster: true });
    it.put('web');
    it.start();
    await it.wait(20_000);
    const { headline, trouble, waitsFor, next } = it.explain({ kind: 'node' });
    expect([headline, trouble, waitsFor]).toEqual([
      'Node node-1 is well: 1 pod, of which 1 runs as wanted.',
      false,
      [],
    ]);
    expect(next.map(({ who }) => who)).toContain('the lease');
    expect(next.filter(({ who }) => who === "the API server's pods")).toEqual([]);
  });

  test.each([
    ['apiSource', "the API server's pods"],
    ['eventRecorder', 'the recorder of events'],
    ['pleg', 'the view of the runtime'],
    ['fileSource', 'the fileSource'],
  ])('of a node says that its %s has failed, until it is there again', async (actorId, who) => {
    const it = new ExplainWorld({ cluster: true });
    it.start();
    await it.wait(20_000);
    it.fails(actorId);
    await it.wait(500);
    const { headline, trouble } = it.explain({ kind: 'node' });
    expect([headline, trouble]).toEqual([`Node node-1: ${who}: has failed and is about to be started again.`, true]);
    await it.wait(20_000);
    expect(it.explain({ kind: 'node' }).headline).toBe('Node node-1 is well: it has no pods.');
  });

  test('of a node takes nothing for failed that has not begun yet or was ended', async () => {
    const it = new ExplainWorld({ cluster: true });
    it.world.runtime.up = false;
    it.start();
    await it.wait(3_000);
    const texts = () => it.explain({ kind: 'node' }).waitsFor.map(({ text }) => text);
    expect(texts().join()).not.toContain('has failed');
    it.world.runtime.up = true;
    await it.wait(20_000);
    it.world.agent?.send({ type: 'agent.drain' });
    expect(texts().join()).not.toContain('has failed');
  });

  test('of a container that the pod has not names those it has', async () => {
    const it = await crashing();
    const explained = it.explain({ kind: 'container', namespace: 'default', name: 'web', container: 'ap' });
    expect(explained.headline).toBe('Pod default/web-node-1 has no container of the name ap; it has app.');
    expect(explained).toMatchObject({ found: false, similar: ['default/web-node-1/app'] });
  });

  test('of a container that runs says so', async () => {
    const it = new ExplainWorld();
    it.put('web');
    it.start();
    await it.wait(5_000);
    expect(it.explain({ kind: 'container', namespace: 'default', name: 'web', container: 'app' }).headline).toBe(
      'default/web-node-1: container app is as it is to be: an instance runs in the sandbox of the pod.',
    );
  });

  test('has nothing secret in it, whatever a runtime says in its errors', async () => {
    const it = new ExplainWorld();
    it.put('web', {}, { env: [{ name: 'PASSWORD', value: 'open-sesame-42' }] });
    it.lacks('bad configuration: PASSWORD=open-sesame-42 of the bearer Bearer abcdefghijklmnop');
    it.start();
    await it.wait(4_000);
    const explained = it.pod('web');
    expect(explained.headline).toContain('CreateContainerConfigError (bad configuration: PASSWORD=[redacted]');
    const text = JSON.stringify(explained) + renderExplanation(explained, it.world.clock.now());
    expect(text).not.toMatch(/open-sesame|abcdefghijkl/);
  });
});
