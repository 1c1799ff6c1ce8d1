import { createRequire } from 'node:module';
import { afterEach, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { machines } from '../../bin/charts.ts';
import { chartsOf } from '../../services/charts/chart-of.ts';
import { xstate4Config } from '../../services/inspect/xstate4-config.ts';
import { until } from '../support/until.ts';
import { watched, type Watched } from './watched.ts';

/** XState 4 and @xstate/inspect as the workspace has them. */
const ofWorkspace = createRequire(new URL('../../services/inspect/index.ts', import.meta.url));

interface Parsed {
  type: string;
  sessionId: string;
  machine?: XState4Machine;
  state?: { value: unknown; context: unknown; matches(value: string): boolean };
  event?: { name: string };
}
interface XState4Machine {
  id: string;
  stateIds: string[];
  events: string[];
  definition: unknown;
  initialState: { value: unknown };
}
const { createWebSocketReceiver } = ofWorkspace('@xstate/inspect') as {
  createWebSocketReceiver(options: { server: string }): {
    subscribe(next: (event: Parsed) => void): void;
    send(event: unknown): void;
  };
};
const { createMachine } = ofWorkspace('xstate') as { createMachine(config: unknown): XState4Machine };

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** The package's own receiver, which asks for the WebSocket of a browser. */
function receive(agent: Watched): Parsed[] {
  const parsed: Parsed[] = [];
  const OfBrowser = globalThis.WebSocket;
  (globalThis as { WebSocket: unknown }).WebSocket = class extends WebSocket {
    constructor(url: string) {
      super(url);
      open.push({ close: () => this.terminate() });
    }
  };
  const receiver = createWebSocketReceiver({ server: agent.url('&only=xstate').slice('ws://'.length) });
  globalThis.WebSocket = OfBrowser;
  receiver.subscribe((event) => parsed.push(event));
  return parsed;
}

const start = async (given: Parameters<typeof watched>[0] = {}) => {
  const agent = await watched(given);
  open.push(agent);
  return agent;
};

describe("@xstate/inspect's own receiver", () => {
  test('parses the machines and states of a running system, its events and its end', async () => {
    const agent = await start();
    const parsed = receive(agent);
    const { sessionId } = agent.lamp('lamp0');
    const registered = await until('the lamp is registered', () =>
      parsed.find((event) => event.type === 'service.register' && event.sessionId === sessionId),
    );
    expect(registered.machine?.stateIds).toEqual(['lamp', 'lamp.off', 'lamp.on', 'lamp.on.dim', 'lamp.on.bright']);
    expect(registered.machine?.initialState.value).toBe('off');
    expect(registered.state?.value).toBe('off');
    expect(registered.state?.context).toEqual({ text: '' });

    agent.lamp('lamp0').send({ type: 'lamp.toggle' });
    const changed = await until('its new state', () => parsed.find(({ type }) => type === 'service.state'));
    expect(changed.sessionId).toBe(sessionId);
    expect(changed.state?.matches('on.dim')).toBe(true);
    expect(parsed.find(({ type }) => type === 'service.event')?.event?.name).toBe('lamp.toggle');

    agent.lamp('lamp0').send({ type: 'lamp.break' });
    await until('its end', () => parsed.find((e) => e.type === 'service.stop' && e.sessionId === sessionId));
  });

  test('hears each actor once, whoever begins after it', async () => {
    const agent = await start({ lamps: 3 });
    const first = receive(agent);
    await until('all are registered', () => first.length === 4);
    const second = receive(agent);
    await until('all are registered with the second, too', () => second.length === 4);
    agent.room.send({ type: 'room.add', id: 'late' });
    const { sessionId } = agent.lamp('late');
    const isThere = (parsed: Parsed[]) =>
      parsed.some((e) => e.type === 'service.register' && e.sessionId === sessionId);
    await until('the new one is registered with both', () => isThere(first) && isThere(second));
    for (const parsed of [first, second]) {
      const registered = parsed.filter(({ type }) => type === 'service.register').map((event) => event.sessionId);
      expect(new Set(registered).size).toBe(registered.length);
      expect(registered).toHaveLength(5);
    }
  });

  test('is told anew when the last client has left and another one comes', async () => {
    const agent = await start();
    const first = receive(agent);
    await until('registered', () => first.length === 2);
    await open.pop()?.close();
    agent.lamp('lamp0').send({ type: 'lamp.toggle' });
    const second = receive(agent);
    await until('registered again', () => second.length >= 2);
    expect(second.find((e) => e.sessionId === agent.lamp('lamp0').sessionId)?.state?.value).toEqual({ on: 'dim' });
  });
});

test.each(Object.values(chartsOf(machines)))('XState 4 makes a machine of the chart of $name', (chart) => {
  const config = JSON.parse(JSON.stringify(xstate4Config(chart))) as unknown;
  const machine = createMachine(config);
  expect(machine.stateIds).toHaveLength(chart.states.length);
  expect(machine.id).toBe(chart.machine);
  // Resolves every target; a wrong one throws.
  expect(() => machine.definition).not.toThrow();
  const events = chart.edges.filter(({ kind }) => kind === 'on').map(({ event }) => event);
  expect(machine.events).toEqual(expect.arrayContaining(events));
});
