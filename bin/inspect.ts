import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { getNextTransitions, type AnyActorRef, type AnyMachineSnapshot } from 'xstate';
import { chartsOf } from '../services/charts/chart-of.ts';
import { targetFor } from '../services/explain/target.ts';
import { startInspector } from '../services/inspect/index.ts';
import type { WriteAccess } from '../services/inspect/inspect.types.ts';
import type { LiveSystem } from '../services/live/live.types.ts';
import type { AgentView, RunningServer } from '../services/server/server.types.ts';
import pjson from '../package.json' with { type: 'json' };
import { machines } from './charts.ts';
import type { LoadedConfig } from './config/load-config.ts';

export interface Inspected {
  agent: AnyActorRef;
  live: LiveSystem;
  explain: AgentView['explain'];
  nodeName: string;
  /** ms since the epoch. */
  startedAt: number;
}

/** Starts the inspector of this agent. Where it cannot be started, that is logged, and the agent goes on without it. */
export function inspectAgent(
  { flags }: LoadedConfig,
  { host, port, write }: NonNullable<LoadedConfig['inspect']>,
  { agent, live, explain, nodeName, startedAt }: Inspected,
  log: Logger,
): Promise<RunningServer | undefined> {
  return startInspector({
    host,
    port,
    folder: join(flags.rootDir, 'statelet'),
    live,
    charts: chartsOf(machines),
    explain: (actor) => explain(targetFor(actor, live)),
    node: nodeName,
    version: pjson.version,
    startedAt,
    // Beside the bundle; for an agent that runs from its sources, where the build puts it.
    pages: ['./inspect', '../dist/inspect'].map((path) => fileURLToPath(new URL(path, import.meta.url))),
    write: write ? writeAccess(agent) : undefined,
    log: (level, message) => log[level](message),
  }).catch((error: Error) => {
    log.error(`inspector: ${error.message}; the agent goes on without its inspector`);
    return undefined;
  });
}

/** The agent's actors by session. XState's own events are taken from nobody. */
function writeAccess(agent: AnyActorRef): WriteAccess {
  const machine = (sessionId: string) => {
    const found = find(agent, sessionId);
    const snapshot = found?.getSnapshot() as AnyMachineSnapshot | undefined;
    return found && snapshot?.machine && snapshot.status === 'active' ? { found, snapshot } : undefined;
  };
  return {
    accepts(sessionId) {
      const { snapshot } = machine(sessionId) ?? {};
      if (!snapshot) return undefined;
      const types = getNextTransitions(snapshot).map(({ eventType }) => eventType);
      return [...new Set(types)].filter((type) => type && !type.startsWith('xstate.') && !type.includes('*'));
    },
    send: (sessionId, event) => machine(sessionId)?.found.send(event),
  };
}

function find(actor: AnyActorRef, sessionId: string): AnyActorRef | undefined {
  if (actor.sessionId === sessionId) return actor;
  const { children = {} } = (actor.getSnapshot() ?? {}) as { children?: Record<string, AnyActorRef | undefined> };
  for (const child of Object.values(children)) {
    const found = child && find(child, sessionId);
    if (found) return found;
  }
  return undefined;
}
