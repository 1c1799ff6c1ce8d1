import type { ActorRefFrom } from 'xstate';
import type { syncloopMachine } from '../machines/syncloop/syncloop.machine.ts';
import { chartsOf } from '../services/charts/chart-of.ts';
import type { Chart } from '../services/charts/chart.types.ts';
import { explain } from '../services/explain/explain.ts';
import type { LiveSystem } from '../services/live/live.types.ts';
import type { AgentView, PodView } from '../services/server/server.types.ts';
import { machines } from './charts.ts';

/** What the servers show, read from the root's own context: nothing is kept twice. */
export function agentView(agent: ActorRefFrom<typeof syncloopMachine>, live: LiveSystem, now: () => number): AgentView {
  // Made when somebody asks for the first time.
  let charts: Record<string, Chart> | undefined;
  return {
    healthy() {
      const { status, value } = agent.getSnapshot();
      if (status === 'active' && value !== 'draining') return { ok: true };
      return { ok: false, reason: status === 'error' ? 'the sync loop has failed' : 'the agent is stopping' };
    },
    pods(): PodView[] {
      const { entries } = agent.getSnapshot().context;
      return Object.values(entries).flatMap(({ pod, status }) => (pod ? [{ pod, status }] : []));
    },
    live,
    explain(target) {
      charts ??= Object.fromEntries(Object.values(chartsOf(machines)).map((chart) => [chart.machine, chart]));
      return explain({ charts, live, now: now() }, target);
    },
  };
}
