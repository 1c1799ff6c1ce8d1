import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createActor, toPromise } from 'xstate';
import type { AnyActorLogic } from 'xstate';
import type { Slot } from '../../../machines/slot.types.ts';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import { logDirectoryName } from '../../../machines/pod/policy/names.ts';
import { connectCri } from '../../../services/cri/client.ts';
import type { Cri } from '../../../services/cri/client.ts';
import type { ConfigSettings } from '../../../services/cri/configs.ts';
import {
  containerSlots,
  imagePullSlots,
  plegSlots,
  podSlots,
  runtimeHealthSlots,
} from '../../../services/cri/index.ts';
import type { CriServices } from '../../../services/cri/index.ts';
import { logRotationSlots } from '../../../services/cri/log-rotation.ts';
import { Observer } from '../../../services/cri/observe.ts';
import { Turns } from '../../../services/cri/turns.ts';
import type { PodHost } from '../../../services/host/host.types.ts';

export const settings: ConfigSettings = {
  seccompDefault: false,
  seccompDir: '/var/lib/kubelet/seccomp',
  cpuCFSQuota: true,
  cpuCFSQuotaPeriodUs: 100_000,
  memoryCapacityBytes: 8 * 1024 ** 3,
  memoryOomGroup: false,
};

/** What a stop is about besides the container and its grace. */
export const STOP = { killAt: 0, reason: 'podStopping' } as const;

/** A node without volumes and cgroups: log directories below a folder, and a note of what it was asked. */
export function plainHost(directory: string): PodHost & { asked: string[] } {
  const asked: string[] = [];
  const logDirectory = (pod: DesiredPod) => join(directory, 'logs', logDirectoryName(pod));
  return {
    asked,
    cgroupParent: () => undefined,
    logDirectory,
    ensureCgroup: () => Promise.resolve(),
    async makeDirectories(pod) {
      await mkdir(logDirectory(pod), { recursive: true });
      return { highestLogAttempt: {} };
    },
    mountVolume: () => Promise.resolve(),
    async prepareContainer(pod, container) {
      await mkdir(join(logDirectory(pod), container.name), { recursive: true });
      return { mounts: [] };
    },
    linkContainerLog: (_pod, container, attempt, id) => {
      asked.push(`link ${container.name}/${attempt} ${id}`);
      return Promise.resolve();
    },
    terminationMessage: ({ policy, exitCode }) => Promise.resolve(`said by policy ${policy} at exit ${exitCode}`),
    releasePod: () => Promise.resolve(),
    removeContainerLog: (id, logPath) => {
      asked.push(`remove log ${id} ${logPath}`);
      return Promise.resolve();
    },
    removePodData: ({ uid }) => {
      asked.push(`remove pod ${uid}`);
      return Promise.resolve();
    },
    sweep: () => Promise.resolve([]),
  };
}

/** Everything that pods work with, on a runtime that answers at an endpoint. */
export class Rig {
  readonly directory: string;
  readonly cri: Cri;
  readonly host: ReturnType<typeof plainHost>;
  readonly services: CriServices;
  readonly container;
  readonly pod;
  readonly image;
  readonly pleg;
  readonly health;
  readonly logs;

  private constructor(directory: string, endpoint: string) {
    this.directory = directory;
    this.cri = connectCri({ runtimeEndpoint: endpoint, runtimeRequestTimeoutMs: 20_000 });
    this.host = plainHost(directory);
    this.services = {
      cri: this.cri,
      host: this.host,
      observer: new Observer(this.cri, this.host, Date.now),
      turns: new Turns(2),
      settings,
      resolver: () => Promise.resolve({ servers: [], searches: [], options: [] }),
      environment: (_pod, { env = [] }) => Promise.resolve(env.map(({ name, value = '' }) => ({ name, value }))),
      recordStop: () => Promise.resolve(),
    };
    this.container = containerSlots(this.services);
    this.pod = podSlots(this.services);
    const pulls = { serializeImagePulls: true, registryPullQPS: 0, registryBurst: 1 };
    this.image = imagePullSlots(this.services, pulls);
    this.pleg = plegSlots(this.services);
    this.health = runtimeHealthSlots(this.services);
    this.logs = logRotationSlots(this.services);
  }

  static async connect(endpoint: string): Promise<Rig> {
    return new Rig(await mkdtemp(join(tmpdir(), 'cri-rig-')), endpoint);
  }

  async close(): Promise<void> {
    this.cri.close();
    await rm(this.directory, { recursive: true });
  }
}

/** The answer of an effect, run as a chart runs it. */
export function effect<Input, Output>(slot: Slot<Input, Output>, input: Input): Promise<Output> {
  const actor = createActor(slot as AnyActorLogic, { input });
  const answer = toPromise(actor) as Promise<Output>;
  actor.start();
  return answer;
}
