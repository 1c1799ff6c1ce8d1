import { mkdir, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { decodeManifest } from '../machines/syncloop/policy/decode-pod.ts';
import { connectCri, type Cri } from '../services/cri/client.ts';
import { ContainerConfig, PodSandboxConfig } from '../services/cri/proto/generated/cri.ts';
import { containerConfig, podSandboxConfig } from '../services/cri/configs.ts';
import { TaskExit, type Envelope } from '../services/cri/proto/generated/containerd-events.ts';
import { createContainer } from '../services/cri/verbs/create-container.ts';
import { removePodSandbox } from '../services/cri/verbs/remove-pod-sandbox.ts';
import { runPodSandbox } from '../services/cri/verbs/run-pod-sandbox.ts';
import { startContainer } from '../services/cri/verbs/start-container.ts';
import { stopPodSandbox } from '../services/cri/verbs/stop-pod-sandbox.ts';
import { subscribe } from '../services/cri/verbs/subscribe.ts';
import { startContainerd } from '../test/support/containerd.ts';
import { exitsOnce, live, manifest, now, type Folder } from './pods.ts';

const signal = new AbortController().signal;

function configs(name: string, folder: Folder, script = live(name)) {
  const sandbox = PodSandboxConfig.fromPartial({
    metadata: { name, namespace: 'default', uid: name, attempt: 0 },
    logDirectory: join(folder.out, `logs-${name}`),
    linux: { cgroupParent: `/statelet-bench/${name}`, securityContext: { namespaceOptions: { network: 0, pid: 1 } } },
  });
  const container = ContainerConfig.fromPartial({
    metadata: { name: 'c', attempt: 0 },
    image: { image: 'docker.io/library/busybox:1.35' },
    command: ['/bin/sh', '-c', script],
    logPath: 'c.log',
    mounts: [{ containerPath: '/out', hostPath: folder.out }],
    linux: {},
  });
  return { sandbox, container };
}

/** The same pod with all that the agent, like a kubelet, asks for it: seccomp, masked paths, DNS, limits, termination log. */
async function wholeConfigs(name: string, folder: Folder) {
  const { pods, problems } = decodeManifest(JSON.stringify(manifest(name, live(name), folder.out)), name, {
    source: 'file',
    nodeName: 'raw',
  });
  const [pod] = pods;
  const [spec] = pod?.spec.containers ?? [];
  if (!pod || !spec) throw new Error(problems.join());
  const settings = {
    ...{ cpuCFSQuota: true, cpuCFSQuotaPeriodUs: 100_000, memoryCapacityBytes: totalmem(), memoryOomGroup: false },
    ...{ seccompDefault: false, seccompDir: '' },
  };
  const logDirectory = join(folder.out, `logs-${name}`);
  const termination = join(logDirectory, 'termination');
  await mkdir(logDirectory);
  await writeFile(termination, '');
  const bind = (hostPath: string, containerPath: string) =>
    ({ hostPath, containerPath, readOnly: false, recursiveReadOnly: false, propagation: 'None' }) as const;
  const mounts = [bind(folder.out, '/out'), bind(termination, '/dev/termination-log')];
  const dns = { servers: ['192.0.2.1'], searches: [], options: [] };
  const sandbox = podSandboxConfig(
    pod,
    { attempt: 0, cgroupParent: `/statelet-bench/${name}`, logDirectory, dns },
    settings,
  );
  const imageRef = spec.image ?? '';
  const place = { attempt: 0, imageRef, image: undefined, mounts, environment: [] };
  return { sandbox, container: containerConfig(pod, spec, place, settings) };
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

  /**
   * One pod, which is gone again when this answers.
   *
   * @param asks of the runtime: what it cannot do without, or all that the agent asks of it for the same pod
   */
  async one(asks: 'least' | 'all' = 'least'): Promise<RawStart> {
    const name = this.#name();
    const configured = asks === 'all' ? await wholeConfigs(name, this.#folder) : configs(name, this.#folder);
    const { id, ...times } = await this.#start(name, configured);
    await this.#remove([id]);
    return times;
  }

  /**
   * One pod whose container ends once; its successor is created the moment containerd tells of the end: from the exit to the
   * successor's process, ms. That is more than to create and start one at leisure: containerd clears up the dead one meanwhile.
   */
  async restarted(): Promise<number> {
    const name = this.#name();
    const { sandbox, container } = configs(name, this.#folder, exitsOnce(name));
    const id = await runPodSandbox(this.#cri, sandbox, signal);
    const first = await createContainer(this.#cri, id, container, sandbox, signal);
    const events = subscribe(this.#cri);
    const ended = new Promise<void>((done) => {
      events.on('data', ({ topic, event }: Envelope) => {
        if (topic === '/tasks/exit' && TaskExit.decode(event?.value ?? new Uint8Array()).containerId === first) done();
      });
    });
    await startContainer(this.#cri, first, signal);
    await ended;
    const again = { ...container, metadata: { name: 'c', attempt: 1 }, logPath: 'c1.log' };
    await startContainer(this.#cri, await createContainer(this.#cri, id, again, sandbox, signal), signal);
    const ran = await this.#folder.made(`${name}.1`);
    const exited = await this.#folder.made(`${name}.x`);
    events.on('error', () => undefined).cancel();
    await this.#remove([id]);
    return ran - exited;
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

  async #start(name: string, { sandbox, container } = configs(name, this.#folder)): Promise<RawStart & { id: string }> {
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
