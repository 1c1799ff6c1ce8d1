import type { Logger } from 'pino';
import { controlSocketPath, serveControlSocket, serveHealthz, serveReadOnly } from '../services/server/index.ts';
import type { AgentView, RunningServer } from '../services/server/server.types.ts';
import type { LoadedConfig } from './config/load-config.ts';
import type { Inspected } from './inspect.ts';

/**
 * The servers that show the agent: the control socket, /healthz, the read-only port where one is set, and the inspector where
 * it is asked for.
 */
export async function showAgent(
  loaded: LoadedConfig,
  view: AgentView,
  log: Logger,
  inspected: Omit<Inspected, 'explain'>,
): Promise<RunningServer[]> {
  const { config, flags, inspect } = loaded;
  const tell = (level: 'info' | 'warn' | 'error', message: string) => log[level](message);
  const servers: RunningServer[] = [await serveControlSocket(controlSocketPath(flags.rootDir), view)];
  if (config.healthzPort)
    servers.push(serveHealthz({ host: config.healthzBindAddress, port: config.healthzPort, view, log: tell }));
  if (config.enableServer && config.readOnlyPort)
    servers.push(serveReadOnly({ host: config.address, port: config.readOnlyPort, view, log: tell }));
  if (inspect) {
    // Loaded here, so that an agent without an inspector does without its code.
    const { inspectAgent } = await import('./inspect.ts');
    const inspector = await inspectAgent(loaded, inspect, { ...inspected, explain: view.explain }, log);
    if (inspector) servers.push(inspector);
  }
  return servers;
}
