import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedRuntime } from '../../../services/cri/embedded/index.ts';
import type { EmbeddedRuntime } from '../../../services/cri/embedded/index.ts';
import { Rig } from './rig.ts';

export interface EmbeddedRig {
  rig: Rig;
  runtime: EmbeddedRuntime;
  /** Ends the runtime and starts another at the same socket. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** The services on an embedded runtime of their own. */
export async function embeddedRig(): Promise<EmbeddedRig> {
  const directory = await mkdtemp(join(tmpdir(), 'cri-'));
  const options = { socketPath: join(directory, 'cri.sock'), stateDir: join(directory, 'state') };
  const serve = () => startEmbeddedRuntime({ ...options, images: { present: ['docker.io/library/busybox:1.35'] } });
  let runtime = await serve();
  const rig = await Rig.connect(runtime.endpoint);
  return {
    rig,
    get runtime() {
      return runtime;
    },
    async restart() {
      await runtime.stop({ containers: 'leave' });
      runtime = await serve();
    },
    async close() {
      await rig.close();
      await runtime.stop();
      await rm(directory, { recursive: true });
    },
  };
}
