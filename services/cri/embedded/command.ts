import { join } from 'node:path';

import { lookUpExecutable, pathRewriter, workingDirectory } from './container-paths.ts';
import type { ContainerEntry, Runtime } from './runtime.ts';

/** Names the container in the environment of its processes; a restarted server finds an unrecorded start by it. */
export const CONTAINER_ID_VARIABLE = 'STATELET_CONTAINER_ID';
/** The same for a command that is executed beside it: what a killed server leaves of those is killed. */
export const EXEC_ID_VARIABLE = 'STATELET_EXEC_CONTAINER_ID';

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface Command {
  /** Full path of the executable. */
  file: string;
  argv: readonly string[];
  env: Record<string, string>;
  cwd: string;
}

/**
 * What to execute for a container: `argv` where given (an exec), else the config's command and args, else the image's
 * command; with its environment and directory, paths of mounts turned into host paths throughout. The environment is
 * the config's, with PATH and HOSTNAME where it names none: nothing else of the server's own is passed on.
 * @throws RuntimeFailure when there is no such executable.
 */
export async function commandOf(runtime: Runtime, entry: ContainerEntry, exec?: readonly string[]): Promise<Command> {
  const { config, id, imageId, sandboxId } = entry.record;
  const rewrite = pathRewriter(config.mounts);
  const own = [...config.command, ...config.args];
  const argv = (exec ?? (own.length > 0 ? own : runtime.images.command(imageId))).map(rewrite);
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? DEFAULT_PATH,
  };
  const hostname = runtime.sandboxes.get(sandboxId)?.record.config.hostname ?? '';
  if (hostname !== '') env.HOSTNAME = hostname;
  for (const { key, value } of config.envs) env[key] = rewrite(Buffer.from(value).toString());
  env[exec === undefined ? CONTAINER_ID_VARIABLE : EXEC_ID_VARIABLE] = id;
  const scratch = join(runtime.records.containerDirectory(id), 'scratch');
  const cwd = await workingDirectory(config.workingDir, rewrite, scratch);
  const file = await lookUpExecutable(argv[0] ?? '', env.PATH ?? DEFAULT_PATH, cwd);
  return { file, argv, env, cwd };
}
