import { AgentError } from '../machines/agent-error.types.ts';
import type { LoadedConfig } from './config/load-config.ts';

/** The composition root. */
export async function runAgent(loaded: LoadedConfig): Promise<void> {
  throw new AgentError({
    op: 'compose the agent',
    reason: 'NotComposed',
    message: `the agent for ${loaded.flags.rootDir} is not composed yet`,
    transient: false,
  });
}
