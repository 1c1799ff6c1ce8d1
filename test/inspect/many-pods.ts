import type { Chart } from '../../services/charts/chart.types.ts';
import type { ServerMessage } from '../../services/inspect/inspect.types.ts';
import { lastingName } from '../../services/live/actor-view.ts';
import type { LiveActor } from '../../services/live/live.types.ts';

const T0 = Date.parse('2026-01-01T00:00:00Z');

/** An actor that stands still. */
export function liveActor(machine: string, sessionId: string, over: Partial<LiveActor> = {}): LiveActor {
  const state = over.state ?? 'running';
  const { id = machine, about } = over;
  return {
    ...{
      sessionId,
      id,
      machine,
      name: lastingName(machine, id, about, undefined),
      value: state,
      state,
      since: T0,
      status: 'active' as const,
    },
    ...{ tags: [], effects: [], timers: [] },
    ...over,
  };
}

/** What a client is told first by an agent with so many pods of two containers each. */
export function manyPods(count: number, charts: Record<string, Chart>): ServerMessage[] {
  const actors = [liveActor('syncloop', 'x:0')];
  for (let n = 0; n < count; n += 1) {
    const about = { namespace: 'many', name: `pod-${String(n).padStart(3, '0')}`, uid: `uid-${n}` };
    const pod = `x:${actors.length}`;
    const of = { parent: 'x:0', id: `pod.uid-${n}`, state: 'syncing.active' };
    actors.push(liveActor('pod', pod, { ...of, about: { kind: 'pod', ...about } }));
    for (const container of ['main', 'side']) {
      const ofPod = { parent: pod, id: `container.${container}`, tags: ['ready'] };
      actors.push(
        liveActor('container', `x:${actors.length}`, { ...ofPod, about: { kind: 'container', container, ...about } }),
      );
    }
  }
  return [
    { type: 'statelet.hello', version: '0.0.0', node: 'many', startedAt: T0, writable: false },
    { type: 'statelet.charts', charts },
    { type: 'statelet.actors', actors },
    { type: 'statelet.history', transitions: [] },
  ];
}
