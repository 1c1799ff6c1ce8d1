import { connect, Server } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { until } from '../support/until.ts';
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
  await client.opened();
  return client;
};

/** What a client says to be let in. */
const greeting = ({ port, token }: Watched): string =>
  `GET /ws?token=${token} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.from('0123456789abcdef').toString('base64')}\r\n\r\n`;

/** The actors go on, and somebody who behaves is served. */
async function isUnharmed(agent: Watched): Promise<void> {
  const client = await hear(agent.url());
  await client.until('statelet.history');
  const before = agent.lamp('lamp0').getSnapshot().value;
  agent.lamp('lamp0').send({ type: 'lamp.toggle' });
  expect(agent.lamp('lamp0').getSnapshot().value).not.toEqual(before);
  await client.until('statelet.actor', (m) => 'transition' in m);
  client.close();
}

describe('a message that is not taken is answered with what is, and harms nothing', () => {
  test.each([
    ['{', 'the message is no JSON object'],
    ['', 'the message is no JSON object'],
    ['null', 'the message is no JSON object'],
    ['[1]', 'the message is no JSON object'],
    ['"xstate.inspecting"', 'the message is no JSON object'],
    ['{}', 'type: accepted are xstate.inspecting, xstate.event, statelet.watch, statelet.unwatch, statelet.explain'],
    [
      '{"type":"service.state"}',
      'type: accepted are xstate.inspecting, xstate.event, statelet.watch, statelet.unwatch, statelet.explain',
    ],
    [
      '{"type":"__proto__"}',
      'type: accepted are xstate.inspecting, xstate.event, statelet.watch, statelet.unwatch, statelet.explain',
    ],
    ['{"type":"statelet.watch"}', 'statelet.watch: sessionId: accepted is one such as "x:12"'],
    ['{"type":"statelet.watch","sessionId":{"a":1}}', 'statelet.watch: sessionId: accepted is one such as "x:12"'],
    ['{"type":"xstate.event","event":"{"}', 'xstate.event: event: accepted is an object with a type, or its JSON text'],
    ['{"type":"xstate.event","event":{"type":1},"service":"x:1"}', 'xstate.event: event.type: accepted is a text'],
    ['{"type":"xstate.event","event":{"type":"a"}}', 'xstate.event: service: accepted is a sessionId such as "x:12"'],
  ])('%s', async (text, message) => {
    const agent = await start();
    const client = await hear(agent.url());
    client.send(text);
    expect(await client.until('statelet.error')).toEqual({ type: 'statelet.error', message });
    await isUnharmed(agent);
  });

  test('a binary one', async () => {
    const agent = await start();
    const client = await hear(agent.url());
    client.socket.send(Buffer.from('{"type":"xstate.inspecting"}'));
    expect(await client.until('statelet.error')).toMatchObject({ message: 'accepted are messages of text' });
    await isUnharmed(agent);
  });
});

test('a message of more than 64 KiB ends its client', async () => {
  const agent = await start();
  const client = await hear(agent.url());
  client.send({ type: 'statelet.watch', sessionId: 'x'.repeat(64 * 1024) });
  expect(await client.ended()).toBe(1009);
  await isUnharmed(agent);
});

test('a flood of messages ends its client', async () => {
  const agent = await start();
  const client = await hear(agent.url());
  for (let i = 0; i < 1000; i += 1) client.send('{');
  expect(await client.ended()).toBe(1008);
  expect(client.heard.filter(({ type }) => type === 'statelet.error').length).toBeLessThanOrEqual(100);
  await isUnharmed(agent);
});

test('bytes that are no WebSocket end their client', async () => {
  const agent = await start();
  const socket = connect(agent.port, '127.0.0.1');
  open.push({ close: () => socket.destroy() });
  let heard = '';
  let ended = false;
  socket.on('data', (data) => (heard += String(data))).on('close', () => (ended = true));
  socket.write(greeting(agent));
  await until('it is let in', () => heard.includes('101'));
  socket.write(Buffer.alloc(64, 0xff));
  await until('it is ended', () => ended);
  await isUnharmed(agent);
});

test('of 1,000 clients as many are let in as there is room for, the others are told so', async () => {
  const agent = await start({ limits: { clients: 32 } });
  const clients = Array.from({ length: 1000 }, () => new Hearing(agent.url('&only=statelet')));
  open.push({ close: () => clients.forEach((client) => client.close()) });
  const refused = () => clients.filter((client) => client.refused === 503);
  await until('all have an answer', () => refused().length === 1000 - 32);
  const inside = clients.filter((client) => client.refused === undefined);
  await Promise.all(inside.map((client) => client.until('statelet.history')));
  for (const client of inside) client.close();
  await until('there is room again', async () => {
    const next = new Hearing(agent.url());
    open.push(next);
    await until('it has an answer', () => next.refused !== undefined || next.heard.length > 0);
    return next.refused === undefined;
  });
  await isUnharmed(agent);
});

describe('a client that does not read', () => {
  const context = (text: string) => ({ text });
  const limits = { bufferedBytes: 100_000, contextChars: 20_000_000, share: 1 };
  /** Three of them are more than the kernel keeps for one socket. */
  const large = (i: number) => ({ type: 'lamp.tell', text: `${i} ${'x'.repeat(16_000_000)}` }) as const;
  const watch = async (agent: Watched) => {
    const slow = await hear(agent.url('&only=statelet'));
    await slow.until('statelet.history');
    slow.send({ type: 'statelet.watch', sessionId: agent.lamp('lamp0').sessionId });
    await slow.until('statelet.context');
    slow.socket.pause();
    return slow;
  };

  test('misses messages, is told how many when it reads again, and gets everything anew', async () => {
    const agent = await start({ limits, context });
    const slow = await watch(agent);
    const heard = slow.heard.length;
    const reading = await watch(agent);
    reading.socket.resume();
    for (let i = 0; i < 3; i += 1) {
      agent.lamp('lamp0').send(large(i));
      await reading.until('statelet.context', (m) => (m['context'] as { text: string }).text.startsWith(`${i} `));
    }
    agent.lamp('lamp0').send({ type: 'lamp.tell', text: '' });
    agent.lamp('lamp0').send({ type: 'lamp.toggle' });
    await reading.until('statelet.actor', (m) => 'transition' in m);
    slow.socket.resume();
    expect(await slow.until('statelet.lagged', undefined, heard)).toMatchObject({ dropped: expect.any(Number) });
    const at = slow.heard.findIndex(({ type }) => type === 'statelet.lagged');
    const { actors } = await slow.until('statelet.actors', undefined, at);
    expect(actors).toContainEqual(expect.objectContaining({ id: 'lamp0', state: 'on.dim' }));
    agent.lamp('lamp0').send({ type: 'lamp.toggle' });
    await slow.until('statelet.actor', (m) => (m['actor'] as { state: string }).state === 'off', at);
  });

  test('is ended when it goes on so', async () => {
    const agent = await start({ limits: { ...limits, stuckMs: 1_000 }, context });
    const slow = await watch(agent);
    for (let i = 0; !agent.log.some((line) => line.includes('has not read for 1 s')); i += 1) {
      agent.lamp('lamp0').send(large(i));
      await new Promise((done) => setTimeout(done, 200));
    }
    slow.socket.resume();
    await slow.ended();
    agent.lamp('lamp0').send({ type: 'lamp.tell', text: '' });
    await isUnharmed(agent);
  });
});

describe('nobody delays the end of the agent', () => {
  const connections = (server: Server) =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  const begin = async (given: Parameters<typeof watched>[0]) => {
    const listens = jest.spyOn(Server.prototype, 'listen');
    const agent = await watched(given);
    const server = listens.mock.contexts.at(-1) as Server;
    listens.mockRestore();
    return { agent, server };
  };
  const halfOpen = async (agent: Watched, status: number) => {
    const socket = connect({ port: agent.port, host: '127.0.0.1', allowHalfOpen: true });
    open.push({ close: () => socket.destroy() });
    let heard = '';
    socket.on('data', (data) => (heard += String(data))).on('error', () => undefined);
    socket.write(greeting(agent));
    await until('it has an answer', () => heard.startsWith(`HTTP/1.1 ${status}`));
  };
  const endsAtOnce = async (agent: Watched, server: Server) => {
    const began = performance.now();
    await agent.close();
    expect(performance.now() - began).toBeLessThan(1000);
    expect(await connections(server)).toBe(0);
  };

  test('who reads is told, who never reads is cut off', async () => {
    const { agent, server } = await begin({ lamps: 100 });
    const reading = await hear(agent.url());
    await reading.until('statelet.history');
    for (let i = 0; i < 8; i += 1) {
      const client = await hear(agent.url());
      client.send({ type: 'xstate.inspecting' });
      client.socket.pause();
    }
    await halfOpen(agent, 101);
    await endsAtOnce(agent, server);
    expect(await reading.ended()).toBe(1001);
  });

  test('who was refused and keeps its own side open is gone before', async () => {
    const { agent, server } = await begin({ limits: { clients: 0 } });
    for (let i = 0; i < 3; i += 1) await halfOpen(agent, 503);
    await until('they are gone', async () => (await connections(server)) === 0);
    await endsAtOnce(agent, server);
  });
});
