import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Container, Node as KubeNode, PodSpec } from '../../machines/kubernetes.types.ts';
import { connectCri, type Cri } from '../../services/cri/client.ts';
import type { EmbeddedRuntime } from '../../services/cri/embedded/index.ts';
import { ContainerState } from '../../services/cri/proto/generated/cri.ts';
import { listContainers } from '../../services/cri/verbs/list-containers.ts';
import { begunByUid, differences, Past, type Sides, type Wanted } from './agreement.ts';
import { CgroupRoot, lacksForCgroups } from './cgroup-root.ts';
import type { Kubectl } from './apiserver/kubectl.ts';
import { boundPod, testCluster, type Cluster } from './cluster.ts';
import { Daemon, lines } from './daemon.ts';
import { commandsWith, type EmbeddedProcess } from './embedded-process.ts';
import { containerdNode, embeddedNode, faultyRuntime } from './node.ts';
import { tearDown } from './tear-down.ts';

/** Longest wait until everybody agrees, ms. */
const PATIENCE_MS = 240_000;

/** Pause between two looks at everything, ms. */
const LOOK_MS = 250;

/** Conditions of a node that has room, by type: status, reason and message. */
export const NO_PRESSURE = {
  MemoryPressure: ['False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  DiskPressure: ['False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  PIDPressure: ['False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
};

/** An event of the Node, as kubectl has it. */
export interface NodeEvent {
  type: string;
  message: string;
  count: number;
}

/** A node without its place in a cluster. */
type Node = Omit<Sides, 'cluster' | 'starts' | 'past'> & { discard: () => Promise<void> };

type Script = { key?: string; script?: string };

/**
 * Pods' cgroups for an agent on the embedded runtime, whose processes are in none of them, so that what is left of them is
 * compared there too. Not where cgroups cannot be made, as comparesAll() then says, unless the tests may leave out nothing.
 */
async function ownCgroups(nodeName: string) {
  const isRequired = process.env['STATELET_TEST_CONTAINERD'] === 'required';
  if (!isRequired && lacksForCgroups() !== '') return undefined;
  const root = await CgroupRoot.make(nodeName);
  return { root, config: { cgroupsPerQOS: true, cgroupRoot: root.name }, remove: () => root.remove() };
}

/** An agent in a cluster, on a runtime: what the tests of both runtimes do with it. */
export class ClusterRig {
  readonly cluster: Cluster;
  readonly kubectl: Kubectl;
  readonly daemon: Daemon;
  readonly cri: Cri;
  readonly #sides: Sides;
  readonly #discard: () => Promise<void>;

  private constructor(sides: Sides, discard: () => Promise<void>) {
    ({ cluster: this.cluster, daemon: this.daemon, cri: this.cri } = sides);
    this.kubectl = sides.cluster.kubectl;
    this.#sides = sides;
    this.#discard = discard;
  }

  /** The agent runs. */
  static onEmbedded(config: Record<string, unknown> = {}): Promise<ClusterRig & { runtime: EmbeddedProcess }> {
    return ClusterRig.#in(async ({ nodeName, kubeconfig }) => {
      const cgroups = await ownCgroups(nodeName);
      const { daemon, runtime, discard } = await embeddedNode({
        nodeName,
        config: { ...config, ...cgroups?.config },
        flags: [`--kubeconfig=${kubeconfig}`],
      });
      const { cri } = runtime;
      return {
        daemon,
        cri,
        runtime,
        cgroups: cgroups?.root,
        discard: () => tearDown(discard, async () => cgroups?.remove()),
      };
    });
  }

  /** The agent runs, and what the runtime hears is on record. */
  static onHeard(config: Record<string, unknown> = {}): Promise<ClusterRig & { runtime: EmbeddedRuntime }> {
    return ClusterRig.#in(async ({ nodeName, kubeconfig }) => {
      const cgroups = await ownCgroups(nodeName);
      const { runtime, discard } = await faultyRuntime();
      const { endpoint } = runtime;
      const cri = connectCri({ runtimeEndpoint: endpoint, runtimeRequestTimeoutMs: 10_000 });
      const flags = [`--kubeconfig=${kubeconfig}`];
      const daemon = await Daemon.start({ endpoint, nodeName, flags, config: { ...config, ...cgroups?.config } });
      return {
        ...{ daemon, cri, runtime, cgroups: cgroups?.root },
        discard: () =>
          tearDown(
            () => daemon.discard(),
            async () => cri.close(),
            discard,
            async () => cgroups?.remove(),
          ),
      };
    });
  }

  /** The agent runs. */
  static onContainerd(prefix: string): Promise<ClusterRig> {
    return ClusterRig.#in(async ({ nodeName, kubeconfig }) => {
      const node = await containerdNode(prefix, { nodeName, flags: [`--kubeconfig=${kubeconfig}`] });
      await node.daemon.start();
      return { ...node, cancelsStarts: true };
    });
  }

  static async #in<Runtime>(
    enter: (cluster: Cluster) => Promise<Node & { runtime: Runtime }>,
  ): Promise<ClusterRig & { runtime: Runtime }> {
    const cluster = await testCluster();
    try {
      const { discard, runtime, ...node } = await enter(cluster);
      const rig = new ClusterRig(
        { ...node, cluster, starts: join(node.daemon.directory, 'starts'), past: new Past() },
        discard,
      );
      return Object.assign(rig, { runtime });
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  async discard(): Promise<void> {
    await tearDown(this.#discard, () => this.cluster.close());
  }

  /** A pod that is bound to the node; without a script it runs until it is told to end. */
  pod(name: string, script: Script = {}, spec: Partial<PodSpec> = {}, over: Partial<Container> = {}) {
    return boundPod(this.cluster, this.#sides.starts, { name, ...script }, spec, over);
  }

  /** Creates pods that run until they are told to end. */
  async create(...names: string[]): Promise<void> {
    await this.kubectl.create(...names.map((name) => this.pod(name)));
  }

  /** Asks for the deletion of pods and waits for none of it. */
  async remove(...names: string[]): Promise<void> {
    await this.kubectl.run('delete', 'pod', ...names, '--wait=false');
  }

  /** Ends the agent without a word, and starts it again. */
  async killAgent(): Promise<void> {
    await this.daemon.kill9();
    await this.daemon.start();
    const { cancelsStarts, past } = this.#sides;
    if (cancelsStarts) for (const uid of (await begunByUid(this.#sides.starts)).keys()) past.cancelled.add(uid);
  }

  /**
   * Cuts every watch each second until `stop`; only the API server of the tests does. `struck` waits for one more cut of the
   * agent's own watch of its pods.
   */
  cutWatches(): { struck: () => Promise<void>; stop: () => void } {
    const own = `system:node:${this.cluster.nodeName}`;
    let count = 0;
    const cut = () => {
      for (const { username, resource } of this.cluster.double().cutWatches())
        if (username === own && resource === 'pods') count += 1;
    };
    const timer = setInterval(cut, 1000);
    const struck = async () => {
      const before = count;
      await this.until('the agent’s watch of its pods is cut', async () => count > before);
    };
    return { struck, stop: () => clearInterval(timer) };
  }

  /** Writes an empty file that containers see as `/starts/<key>`. */
  async note(key: string): Promise<void> {
    await writeFile(join(this.#sides.starts, key), '');
  }

  starts(key: string): Promise<string[]> {
    return lines(join(this.#sides.starts, key));
  }

  /** How many containers run, as the runtime has it. */
  async running(): Promise<number> {
    return (await listContainers(this.cri, { state: ContainerState.CONTAINER_RUNNING })).length;
  }

  /** Keys of the pods of which processes run, sorted. */
  async processes(): Promise<string[]> {
    const commands = [...(await commandsWith(`: ${this.cluster.nodeName}/`)).values()];
    return commands.map((command) => /: [^/ ]+\/([^;]+);/.exec(command)?.[1] ?? '').sort();
  }

  /** A JSONPath (`{.status.phase}`) of an object; empty where there is none. */
  async see(kind: string, name: string, path: string): Promise<string> {
    return this.kubectl.run('get', kind, name, '--ignore-not-found', '-o', `jsonpath=${path}`);
  }

  /** The conditions of the Node that are the agent's, by type: status, reason and message. */
  async nodeConditions(): Promise<Record<string, unknown>> {
    const { status } = await this.kubectl.get<KubeNode>('node', this.cluster.nodeName);
    // Those of others, such as NetworkUnavailable of a network plugin, are theirs.
    const own = (status?.conditions ?? []).filter(({ type }) => type === 'Ready' || type in NO_PRESSURE);
    return Object.fromEntries(own.map(({ type, status: is, reason, message }) => [type, [is, reason, message]]));
  }

  /** What the agent told of its Node, by reason: events of controllers are left out. Counts of one reason are summed. */
  async nodeEvents(): Promise<Map<string, NodeEvent>> {
    const { nodeName } = this.cluster;
    const of = `involvedObject.kind=Node,involvedObject.name=${nodeName}`;
    const { items } = await this.kubectl.get<{
      items: (NodeEvent & { reason: string; source?: { component?: string } })[];
    }>('events', '-n', 'default', '--field-selector', of);
    const found = new Map<string, NodeEvent>();
    for (const { reason, type, message, count = 1, source } of items)
      if (source?.component === 'kubelet')
        found.set(reason, { type, message, count: count + (found.get(reason)?.count ?? 0) });
    return found;
  }

  async until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
    return this.daemon.until(what, look, PATIENCE_MS);
  }

  /** Puts the manifest of a static pod that notes its starts; its mirror pod is in the namespace of the tests. */
  async putStatic(name: string): Promise<void> {
    const { metadata, spec } = this.pod(name, {}, { automountServiceAccountToken: undefined });
    await this.daemon.put({ metadata: { ...metadata, namespace: this.cluster.namespace }, spec });
  }

  /** Waits for another Node than that of the UID, which is Ready, and answers its UID. */
  async nodeAfter(before: string): Promise<string> {
    const { nodeName } = this.cluster;
    const uid = await this.until('the Node is another', async () => {
      const now = await this.see('node', nodeName, '{.metadata.uid}');
      return now !== '' && now !== before && now;
    });
    await this.kubectl.run('wait', '--for=condition=Ready', `node/${nodeName}`, '--timeout=50s');
    await this.until('the lease is that Node’s', async () => {
      const lease = ['lease', '-n', 'kube-node-lease', nodeName, '--ignore-not-found'];
      return (await this.kubectl.run('get', ...lease, '-o', 'jsonpath={.metadata.ownerReferences[*].uid}')) === uid;
    });
    return uid;
  }

  /** In what API, agent, runtime, processes, disk, mounts and cgroups do not agree now. */
  differences(pods: readonly string[]): Promise<string[]> {
    return differences(this.#sides, { pods });
  }

  /** Where the agent makes cgroups. */
  get cgroups(): CgroupRoot | undefined {
    return this.#sides.cgroups;
  }

  /** Waits until API, agent, runtime, processes, disk, mounts and cgroups agree that these pods, and no others, are there. */
  async agree(pods: readonly string[], more: Omit<Wanted, 'pods'> = {}): Promise<void> {
    let last: string[] = [];
    const look = async () => {
      last = await differences(this.#sides, { pods, ...more });
      // A look costs as much as what it looks at.
      if (last.length > 0) await sleep(LOOK_MS);
      return last.length === 0;
    };
    await this.until('all agree on the pods', look).catch((error: unknown) => {
      throw new Error(`${last.join('\n')}\n${String(error)}`);
    });
  }

  /** Takes away every manifest, deletes every pod of the tests and waits until nothing is left of any. */
  async empty(): Promise<void> {
    for (const file of await readdir(this.daemon.manifests)) await rm(join(this.daemon.manifests, file));
    await this.kubectl.run('delete', 'pods', '--all', '--wait=false');
    await this.agree([]);
  }
}
