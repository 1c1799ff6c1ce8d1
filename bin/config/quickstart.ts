import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from './schema.ts';

/** Values that stand between the defaults and everything that the user says. */
export interface BaseLayer {
  config: JsonObject;
  flags: { rootDir: string };
}

/**
 * `--quickstart`: the examples of this package, with all that is written below the user's own state folder, on any
 * host; no port but healthz on the loopback.
 */
export function quickstartLayer(env: Readonly<Record<string, string | undefined>>): BaseLayer {
  const rootDir = join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'statelet', 'quickstart');
  return {
    flags: { rootDir },
    config: {
      staticPodPath: fileURLToPath(new URL('../examples', packageUrl())),
      podLogsDir: join(rootDir, 'logs'),
      readOnlyPort: 0,
      cgroupsPerQOS: false,
      enforceNodeAllocatable: [],
      failCgroupV1: false,
      failSwapOn: false,
    },
  };
}

/** A file one folder below the package's: dist/statelet.js in the bundle, bin/run.js beside the sources. */
function packageUrl(): URL {
  const here = import.meta.url;
  return here.includes('/bin/config/') ? new URL('../run.js', here) : new URL(here);
}
