import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Container, PodSpec } from '../../machines/kubernetes.types.ts';
import type { Cri } from '../../services/cri/client.ts';
import { ContainerState } from '../../services/cri/proto/generated/cri.ts';
import { listContainers } from '../../services/cri/verbs/list-containers.ts';
import { differences, type Sides, type Wanted } from './agreement.ts';
import type { Kubectl } from './apiserver/kubectl.ts';
import { boundPod, testCluster, type Cluster } from './cluster.ts';
import { lines, type Daemon } from './daemon.ts';
import { commandsWith } from './embedded-process.ts';
import { containerdNode, embeddedNode } from './node.ts';
import { tearDown } from './tear-down.ts';

/** Longest wait until everybody agrees, ms. */
const PATIENCE_MS = 240_000;

/** Pause between two looks at everything, ms. */
const LOOK_MS = 250;

type Script = { key?: string; script?: string };

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
  static onEmbedded(config: Record<string, unknown> = {}): Promise<ClusterRig> {
    return ClusterRig.#in(async ({ nodeName, kubeconfig }) => {
      const { daemon, runtime, discard } = await embeddedNode({
        nodeName,
        config,
        flags: [`--kubeconfig=${kubeconfig}`],
      });
      return { daemon, cri: runtime.cri, discard };
    });
  }

  /** The agent runs. */
  static onContainerd(prefix: string): Promise<ClusterRig> {
    return ClusterRig.#in(async ({ nodeName, kubeconfig }) => {
      const node = await containerdNode(prefix, { nodeName, flags: [`--kubeconfig=${kubeconfig}`] });
      await node.daemon.start();
      return node;
    });
  }

  static async #in(
    enter: (cluster: Cluster) => Promise<Omit<Sides, 'cluster' | 'starts'> & { discard: () => Promise<void> }>,
  ): Promise<ClusterRig> {
    const cluster = await testCluster();
    try {
      const { discard, ...node } = await enter(cluster);
      return new ClusterRig({ ...node, cluster, starts: join(node.daemon.directory, 'starts') }, discard);
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

  /** Waits until API, agent, runtime, processes, disk and cgroups agree that these pods, and no others, are there. */
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
