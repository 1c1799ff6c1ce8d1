import type { Logger } from 'pino';
import { controlSocketPath, serveControlSocket, serveHealthz, serveReadOnly } from '../services/server/index.ts';
import type { AgentView } from '../services/server/server.types.ts';
import type { LoadedConfig } from './config/load-config.ts';

/** The servers that show the agent: the control socket, /healthz, and the read-only port where one is set. */
export async function showAgent({ config, flags }: LoadedConfig, view: AgentView, log: Logger) {
  const tell = (level: 'info' | 'warn' | 'error', message: string) => log[level](message);
  const servers = [await serveControlSocket(controlSocketPath(flags.rootDir), view)];
  if (config.healthzPort)
    servers.push(serveHealthz({ host: config.healthzBindAddress, port: config.healthzPort, view, log: tell }));
  if (config.enableServer && config.readOnlyPort)
    servers.push(serveReadOnly({ host: config.address, port: config.readOnlyPort, view, log: tell }));
  return servers;
}
