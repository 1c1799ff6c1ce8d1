import { join } from 'node:path';
import { connectCri, type Cri } from '../services/cri/client.ts';
import { ContainerConfig, PodSandboxConfig } from '../services/cri/proto/generated/cri.ts';
import { createContainer } from '../services/cri/verbs/create-container.ts';
import { removePodSandbox } from '../services/cri/verbs/remove-pod-sandbox.ts';
import { runPodSandbox } from '../services/cri/verbs/run-pod-sandbox.ts';
import { startContainer } from '../services/cri/verbs/start-container.ts';
import { stopPodSandbox } from '../services/cri/verbs/stop-pod-sandbox.ts';
import { startContainerd } from '../test/support/containerd.ts';
import { live, now, type Folder } from './pods.ts';

const signal = new AbortController().signal;

function configs(name: string, folder: Folder) {
  const sandbox = PodSandboxConfig.fromPartial({
    metadata: { name, namespace: 'default', uid: name, attempt: 0 },
    logDirectory: join(folder.out, `logs-${name}`),
    linux: { cgroupParent: `/statelet-bench/${name}`, securityContext: { namespaceOptions: { network: 0, pid: 1 } } },
  });
  const container = ContainerConfig.fromPartial({
    metadata: { name: 'c', attempt: 0 },
    image: { image: 'docker.io/library/busybox:1.35' },
    command: ['/bin/sh', '-c', live(name)],
    logPath: 'c.log',
    mounts: [{ containerPath: '/out', hostPath: folder.out }],
    linux: {},
  });
  return { sandbox, container };
}

/** The three calls that a pod needs at the least, ms: from the first call, and from the made sandbox, to the running process. */
interface RawStart {
  total: number;
  restart: number;
}

/**
 * The floor that the agent is measured against: the raw calls on a containerd of their own, where no agent takes their pods
 * for orphans. So each of its measurements stands right beside one of the agent's, whatever else the machine does.
 */
export class Floor {
  readonly #containerd: { stop(): Promise<void> };
  readonly #cri: Cri;
  readonly #folder: Folder;
  #made = 0;

  private constructor(containerd: { stop(): Promise<void> }, cri: Cri, folder: Folder) {
    this.#containerd = containerd;
    this.#cri = cri;
    this.#folder = folder;
  }

  static async start(directory: string, folder: Folder): Promise<Floor> {
    const containerd = await startContainerd(directory);
    const cri = connectCri({ runtimeEndpoint: containerd.endpoint, runtimeRequestTimeoutMs: 120_000 });
    return new Floor(containerd, cri, folder);
  }

  /** One pod, which is gone again when this answers. */
  async one(): Promise<RawStart> {
    const { id, ...times } = await this.#start(this.#name());
    await this.#remove([id]);
    return times;
  }

  /** N pods, `workers` at a time, from a common start: when the last process ran, ms from the start. All are gone then. */
  async burst(n: number, workers = 4): Promise<number> {
    const began = now();
    const all = Array.from({ length: n }, () => this.#name());
    const queue = [...all];
    const ids: string[] = [];
    const worker = async () => {
      for (let name = queue.shift(); name; name = queue.shift()) ids.push((await this.#start(name)).id);
    };
    await Promise.all(Array.from({ length: workers }, worker));
    const ran = await Promise.all(all.map(async (name) => (await this.#folder.made(`${name}.0`)) - began));
    await this.#remove(ids);
    return Math.max(...ran);
  }

  async stop(): Promise<void> {
    this.#cri.close();
    await this.#containerd.stop();
  }

  #name(): string {
    this.#made += 1;
    return `raw-${this.#made}`;
  }

  async #start(name: string): Promise<RawStart & { id: string }> {
    const { sandbox, container } = configs(name, this.#folder);
    const began = now();
    const id = await runPodSandbox(this.#cri, sandbox, signal);
    const made = now();
    const c = await createContainer(this.#cri, id, container, sandbox, signal);
    await startContainer(this.#cri, c, signal);
    const ran = await this.#folder.made(`${name}.0`);
    return { total: ran - began, restart: ran - made, id };
  }

  async #remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await stopPodSandbox(this.#cri, id, signal);
      await removePodSandbox(this.#cri, id, signal);
    }
  }
}
