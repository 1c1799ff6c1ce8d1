import { fromPromise } from 'xstate';
import type { RecordedEvent } from '../../../machines/agent.types.ts';
import type { DesiredPod, Pod } from '../../../machines/kubernetes.types.ts';
import { leaseMachine } from '../../../machines/node/lease.machine.ts';
import { nodeStatusMachine } from '../../../machines/node/node-status.machine.ts';
import { nodeMachine } from '../../../machines/node/node.machine.ts';
import type { NodeSlots } from '../../../machines/node/node.types.ts';
import { apiSourceMachine } from '../../../machines/syncloop/api-source.machine.ts';
import { clusterMachine } from '../../../machines/syncloop/cluster.machine.ts';
import type { ClusterSettings } from '../../../machines/syncloop/cluster.types.ts';
import { eventRecorderMachine } from '../../../machines/syncloop/event-recorder.machine.ts';
import { podWriterMachine } from '../../../machines/syncloop/pod-writer.machine.ts';
import { statusWriterMachine } from '../../../machines/syncloop/status-writer.machine.ts';
import type { FactStore } from '../../../services/host/facts.ts';
import { apiSourceSlots, eventRecorderSlots, nodeSlots, podWriterSlots } from '../../../services/kube/index.ts';
import { isMirror } from '../mirror.ts';
import { nodeFacts, nodeSettings } from '../node-fixtures.ts';
import { ApiInvariants } from './api-invariants.ts';
import { SimApiServer } from './api-server.ts';
import { Random } from './random.ts';
import type { Caller } from './runtime.ts';
import type { World } from './world.ts';

/** The charts of the API server's side, which a wrong agent may have replaced. */
export const CLUSTER_CHARTS = {
  apiSource: apiSourceMachine,
  statusWriter: statusWriterMachine,
  podWriter: podWriterMachine,
  node: nodeMachine,
  nodeStatus: nodeStatusMachine,
  lease: leaseMachine,
  eventRecorder: eventRecorderMachine,
};
export type ClusterCharts = typeof CLUSTER_CHARTS;

/** The cluster that a world's agent is in: its API server, what the node keeps of it, and what must hold of both. */
export class SimCluster {
  readonly server: SimApiServer;
  readonly settings: ClusterSettings;
  /** Pods of the API that the agent kept, by UID. */
  readonly kept = new Map<string, string>();
  /** What this agent told of since it started. */
  events: RecordedEvent[] = [];
  readonly #world: World;
  readonly #node: string;

  constructor(world: World, node: string) {
    this.#world = world;
    this.#node = node;
    this.settings = { node: nodeSettings({ hostname: node }), drainMs: 5_000 };
    const random = new Random(Math.floor(world.random.next() * 2 ** 32));
    this.server = new SimApiServer(world.clock, random, node);
    new ApiInvariants(world, this.server);
    this.server.onTrace = (line) => world.trace?.(line);
    this.server.onTold = (uid, wanted) => {
      if (!world.specs.has(uid)) return;
      if (wanted) world.invariants.wanted(uid);
      else if (!world.invariants.isUnwanted(uid)) world.invariants.unwanted(uid);
    };
    // What a pod is to run is known from the store, not from the agent.
    this.server.api.store.watch('pods/', 0, ({ object, type }) => {
      const pod = object as unknown as DesiredPod;
      if (type !== 'DELETED' && !isMirror(pod)) world.specs.set(pod.metadata.uid, pod);
    });
  }

  /** Pods of the store, mirror pods too. */
  pods(): Pod[] {
    return this.server.api.store.list('pods/') as unknown as Pod[];
  }

  /** Pods of the API that are to run on the node. */
  bound(): DesiredPod[] {
    return this.pods().filter(
      (pod): pod is DesiredPod =>
        pod.spec?.nodeName === this.#node && !isMirror(pod) && pod.metadata?.deletionTimestamp === undefined,
    );
  }

  mirrors(): Pod[] {
    return this.pods().filter(isMirror);
  }

  happened(event: RecordedEvent): void {
    this.events.push(event);
  }

  /** Another agent: it may know less than the last one, and is told anew. */
  agentStarted(): void {
    this.events = [];
    for (const [uid, { spec }] of this.#world.specs)
      if (spec.nodeName === this.#node && this.#world.invariants.isUnwanted(uid) && this.isOfApi(uid))
        this.#world.invariants.wanted(uid);
  }

  isOfApi(uid: string): boolean {
    return this.#world.specs.get(uid)?.metadata.resourceVersion !== undefined;
  }

  /** The agent's side of the API server, with its slots filled as the product fills them, but for the line. */
  actor(life: Caller, charts: ClusterCharts) {
    const kube = this.server.kube(life);
    const { createNode, getNode, patchNode, patchNodeStatus, getLease, createLease, updateLease } = nodeSlots(kube);
    const readNodeFacts: NodeSlots['readNodeFacts'] = fromPromise(async () => {
      await this.#pause(life, 0);
      const facts = nodeFacts({}, { nodeIPs: ['192.0.2.1'] });
      return this.#world.runtime.up ? facts : { host: facts.host };
    });
    const nodeStatus = charts.nodeStatus.provide({ actors: { readNodeFacts, getNode, patchNodeStatus } });
    const lease = charts.lease.provide({ actors: { getLease, createLease, updateLease } });
    const podWriter = charts.podWriter.provide({ actors: podWriterSlots(kube) });
    return clusterMachine.provide({
      actors: {
        apiSource: charts.apiSource.provide({
          actors: apiSourceSlots(kube, this.#factStore(life), this.#world.random.next),
        }),
        statusWriter: charts.statusWriter.provide({ actors: { podWriter } }),
        node: charts.node.provide({ actors: { readNodeFacts, createNode, getNode, patchNode, nodeStatus, lease } }),
        eventRecorder: charts.eventRecorder.provide({ actors: eventRecorderSlots(kube) }),
      },
    });
  }

  /** A disk's moment; nothing comes of it for an agent that is dead by then. */
  #pause(life: Caller, fails: number): Promise<void> {
    const { clock, random } = this.#world;
    return new Promise((resolve, reject) => {
      const isBad = random.chance(fails);
      clock.setTimeout(
        () => {
          if (life.dead) return;
          if (isBad) reject(new Error('EIO: input/output error'));
          else resolve();
        },
        random.between(0, 5),
      );
    });
  }

  #factStore(life: Caller): FactStore {
    const { kept } = this;
    const disk = () => this.#pause(life, this.#world.hostFails);
    return {
      list: async () => {
        await disk();
        return [...kept.keys()];
      },
      read: async (key) => {
        const text = kept.get(key);
        return text === undefined ? undefined : (JSON.parse(text) as Record<string, unknown>);
      },
      write: async (key, facts) => {
        await disk();
        kept.set(key, JSON.stringify(facts));
      },
      remove: async (key) => {
        await disk();
        kept.delete(key);
      },
    };
  }
}
