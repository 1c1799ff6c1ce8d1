import type { ActorRefFrom } from 'xstate';
import type { syncloopMachine } from '../machines/syncloop/syncloop.machine.ts';
import type { LiveSystem } from '../services/live/live.types.ts';
import type { AgentView, PodView } from '../services/server/server.types.ts';

/** What the servers show, read from the root's own context: nothing is kept twice. */
export function agentView(agent: ActorRefFrom<typeof syncloopMachine>, live: LiveSystem): AgentView {
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
  };
}
