import { afterEach, describe, expect, test } from '@jest/globals';
import { Hearing, watched, type Watched } from './watched.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
const start = async (given: Parameters<typeof watched>[0] = {}): Promise<Watched> => {
  const agent = await watched(given);
  open.push(agent);
  return agent;
};
const hear = async (url: string): Promise<Hearing> => {
  const client = new Hearing(url);
  open.push(client);
  return client.opened();
};

describe('messages of our own', () => {
  test('begin with hello, the charts, all actors and their history', async () => {
    const client = await hear((await start()).url('&only=statelet'));
    await client.until('statelet.history');
    expect(client.heard.map(({ type }) => type)).toEqual([
      'statelet.hello',
      'statelet.charts',
      'statelet.actors',
      'statelet.history',
    ]);
    expect(client.heard[0]).toEqual({
      type: 'statelet.hello',
      version: '1.2.3',
      node: 'testnode',
      startedAt: 1,
      writable: false,
    });
    expect(Object.keys(client.heard[1]?.['charts'] as object)).toEqual(['room', 'lamp']);
    const actors = client.heard[2]?.['actors'] as { machine: string; state: string }[];
    expect(actors.map(({ machine, state }) => [machine, state])).toEqual([
      ['room', 'lit'],
      ['lamp', 'off'],
    ]);
    const history = client.heard[3]?.['transitions'] as { machine: string; to: string }[];
    expect(history.map(({ machine, to }) => [machine, to])).toContainEqual(['lamp', 'off']);
  });

  test('tell of a change with its transition, and of the timers that run', async () => {
    const agent = await start();
    const client = await hear(agent.url('&only=statelet'));
    await client.until('statelet.history');
    agent.lamp('lamp0').send({ type: 'lamp.toggle' });
    const { actor, transition } = await client.until('statelet.actor', (m) => 'transition' in m);
    expect(actor).toMatchObject({ id: 'lamp0', state: 'on.dim', timers: [{ delay: 'burnOut', ms: 60_000_000 }] });
    expect(transition).toMatchObject({ from: 'off', to: 'on.dim', event: 'lamp.toggle' });
  });

  test('gather the changes of one actor, and lose no transition', async () => {
    const agent = await start();
    const client = await hear(agent.url('&only=statelet'));
    await client.until('statelet.history');
    for (let i = 0; i < 40; i += 1) agent.lamp('lamp0').send({ type: 'lamp.toggle' });
    const { actor, earlier } = await client.until('statelet.actor', (m) => 'earlier' in m);
    expect(actor).toMatchObject({ state: 'off' });
    expect(earlier).toHaveLength(39);
    expect(client.heard.filter(({ type }) => type === 'statelet.actor')).toHaveLength(1);
  });

  test('tell of a new actor and of its end', async () => {
    const agent = await start();
    const client = await hear(agent.url('&only=statelet'));
    await client.until('statelet.history');
    agent.room.send({ type: 'room.add', id: 'lamp1' });
    const { actor } = await client.until('statelet.actor', (m) => (m['actor'] as { id: string }).id === 'lamp1');
    agent.lamp('lamp1').send({ type: 'lamp.break' });
    const { sessionId } = await client.until('statelet.stopped');
    expect(sessionId).toBe((actor as { sessionId: string }).sessionId);
  });

  test('have the context of what a client watches, and of nothing else', async () => {
    const agent = await start({ lamps: 2 });
    const client = await hear(agent.url('&only=statelet'));
    await client.until('statelet.history');
    const { sessionId } = agent.lamp('lamp0');
    client.send({ type: 'statelet.watch', sessionId });
    expect(await client.until('statelet.context')).toEqual({
      type: 'statelet.context',
      sessionId,
      context: { text: '' },
    });
    const heard = client.heard.length;
    agent.lamp('lamp1').send({ type: 'lamp.tell', text: 'other' });
    agent.lamp('lamp0').send({ type: 'lamp.tell', text: 'mine' });
    expect(await client.until('statelet.context', undefined, heard)).toMatchObject({ context: { text: 'mine' } });
    client.send({ type: 'statelet.unwatch', sessionId });
    client.send({ type: 'statelet.watch', sessionId: 'x:999' });
    expect(await client.until('statelet.error')).toMatchObject({
      message: 'statelet.watch: x:999: there is no such actor',
    });
    const contexts = client.heard.filter(({ type }) => type === 'statelet.context').length;
    agent.lamp('lamp0').send({ type: 'lamp.tell', text: 'unseen' });
    agent.lamp('lamp0').send({ type: 'lamp.toggle' });
    await client.until('statelet.actor', (m) => 'transition' in m);
    expect(client.heard.filter(({ type }) => type === 'statelet.context')).toHaveLength(contexts);
  });

  test('say why an actor is where it is, to a client that asks', async () => {
    const agent = await start();
    const client = await hear(agent.url('&only=statelet'));
    const { sessionId } = agent.lamp('lamp0');
    client.send({ type: 'statelet.explain', sessionId });
    expect(await client.until('statelet.explanation')).toMatchObject({
      sessionId,
      explanation: { headline: 'lamp0 is off', found: true, waitsFor: [] },
    });
    client.send({ type: 'statelet.explain', sessionId: 'x:999' });
    expect(await client.until('statelet.error')).toMatchObject({
      message: 'statelet.explain: x:999: there is no such actor',
    });
  });

  test('say of an actor that cannot be explained that it cannot, and the agent goes on', async () => {
    const explain = () => {
      throw new Error('nothing is known');
    };
    const agent = await start({ explain });
    const client = await hear(agent.url('&only=statelet'));
    const { sessionId } = agent.lamp('lamp0');
    client.send({ type: 'statelet.explain', sessionId });
    const message = `statelet.explain: lamp lamp0 (${sessionId}): nothing is known`;
    expect(await client.until('statelet.error')).toMatchObject({ message });
    expect(agent.log).toContain(`error: inspector: ${message}`);
  });

  test('reach one client while another has a great many actors to be told of, each of which takes long', async () => {
    const LAMPS = 100;
    const slowly = (text: string) => {
      const began = process.threadCpuUsage().user;
      while (process.threadCpuUsage().user - began < 5_000);
      return { text };
    };
    const agent = await start({ lamps: LAMPS, limits: { share: 1 }, context: slowly });
    const [page, other] = [await hear(agent.url('&only=statelet')), await hear(agent.url('&only=xstate'))];
    await page.until('statelet.history');
    other.send({ type: 'xstate.inspecting' });
    await other.until('service.register');
    const { sessionId } = agent.lamp('lamp0');
    for (const type of ['statelet.watch', 'statelet.explain']) page.send({ type, sessionId });
    agent.lamp('lamp1').send({ type: 'lamp.toggle' });
    for (const type of ['statelet.context', 'statelet.explanation', 'statelet.actor']) await page.until(type);
    const registered = other.heard.filter(({ type }) => type === 'service.register').length;
    expect(registered).toBeLessThan(LAMPS / 2);
  });

  test('leave out a context that is too large', async () => {
    const agent = await start({ limits: { contextChars: 1000 } });
    const client = await hear(agent.url());
    agent.lamp('lamp0').send({ type: 'lamp.tell', text: 'x'.repeat(2000) });
    client.send({ type: 'statelet.watch', sessionId: agent.lamp('lamp0').sessionId });
    expect(await client.until('statelet.context')).toMatchObject({ context: '[2011 characters, too much to show]' });
  });
});

describe('events of a client', () => {
  const event = (service: string, type: string) => ({ type: 'xstate.event', service, event: JSON.stringify({ type }) });

  test('are not taken without --inspect-write', async () => {
    const agent = await start();
    const client = await hear(agent.url());
    client.send(event(agent.lamp('lamp0').sessionId, 'lamp.toggle'));
    expect(await client.until('statelet.error')).toMatchObject({
      message: 'xstate.event: this agent takes no events: accepted is one that runs with --inspect-write',
    });
    expect(agent.lamp('lamp0').getSnapshot().value).toBe('off');
  });

  test('reach the actor with it, and the log says so', async () => {
    const agent = await start({ write: true });
    const client = await hear(agent.url());
    await client.until('statelet.history');
    expect(client.heard[0]).toMatchObject({ writable: true });
    const { sessionId } = agent.lamp('lamp0');
    client.send(event(sessionId, 'lamp.toggle'));
    expect(await client.until('statelet.actor', (m) => 'transition' in m)).toMatchObject({
      actor: { state: 'on.dim' },
    });
    expect(agent.log.at(-1)).toBe(`warn: inspector: client 1 sends lamp.toggle to lamp lamp0 (${sessionId})`);
  });

  test('are refused where the state does not take them', async () => {
    const agent = await start({ write: true });
    const client = await hear(agent.url());
    const { sessionId } = agent.lamp('lamp0');
    client.send(event(sessionId, 'lamp.melt'));
    expect(await client.until('statelet.error')).toMatchObject({
      message: `xstate.event: "lamp.melt" is not taken in this state: accepted are lamp.toggle, lamp.tell, lamp.break`,
    });
    client.send(event('x:999', 'lamp.toggle'));
    await client.until('statelet.error', ({ message }) => message === 'xstate.event: x:999: there is no such actor');
  });

  test('that break their actor, break it alone', async () => {
    const agent = await start({ write: true, lamps: 2 });
    const client = await hear(agent.url());
    await client.until('statelet.history');
    const { sessionId } = agent.lamp('lamp0');
    client.send({ type: 'statelet.watch', sessionId });
    client.send(event(sessionId, 'lamp.break'));
    expect(await client.until('statelet.stopped')).toMatchObject({ sessionId });
    expect(agent.room.getSnapshot().status).toBe('active');
    agent.room.send({ type: 'room.add', id: 'lamp2' });
    await client.until('statelet.actor', (m) => (m['actor'] as { id: string }).id === 'lamp2');
  });
});
