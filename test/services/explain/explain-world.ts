import { machines } from '../../../bin/charts.ts';
import { AgentError } from '../../../machines/agent-error.types.ts';
import type { Pod } from '../../../machines/kubernetes.types.ts';
import { chartsOf } from '../../../services/charts/chart-of.ts';
import { explain } from '../../../services/explain/explain.ts';
import type { Explanation, Target } from '../../../services/explain/explain.types.ts';
import { createLiveSystem, type RunningLiveSystem } from '../../../services/live/live-system.ts';
import type { SimCluster } from '../../support/world/cluster.ts';
import { NODE, World } from '../../support/world/world.ts';

const charts = Object.fromEntries(Object.values(chartsOf(machines)).map((chart) => [chart.machine, chart]));

/** A simulated agent whose state can be asked for. */
export class ExplainWorld {
  readonly world: World;
  live: RunningLiveSystem;
  readonly problems: string[] = [];

  constructor(options: { cluster?: boolean } = {}) {
    this.world = new World(1, {}, options);
    for (const image of ['present:1', 'present:2']) this.world.runtime.images.add(image);
    this.live = this.#live();
  }

  #live(): RunningLiveSystem {
    return createLiveSystem({ now: () => this.world.clock.now(), tell: (message) => this.problems.push(message) });
  }

  get cluster(): SimCluster {
    if (!this.world.cluster) throw new Error('this world has no cluster');
    return this.world.cluster;
  }

  start(): void {
    this.live = this.#live();
    this.world.start(this.live.inspect);
  }

  wait = (ms: number): Promise<void> => this.world.clock.advance(ms);

  explain(target: Target): Explanation {
    return explain({ charts, live: this.live, now: this.world.clock.now() }, target);
  }

  pod = (name: string): Explanation => this.explain({ kind: 'pod', namespace: 'default', name });

  put(name: string, spec: object = {}, container: object = {}, metadata: object = {}): void {
    this.world.put(`/manifests/${name}.yaml`, podOf(name, spec, container, metadata));
  }

  /** Creates a pod of the API that is bound to the node. */
  create(name: string, spec: object = {}, container: object = {}): void {
    const body = podOf(name, { nodeName: NODE, automountServiceAccountToken: false, ...spec }, container);
    const { server } = this.cluster;
    if (!server.attempt((api, call) => api.create(server.target('pods', 'default', name), body, call)))
      throw new Error(`pod ${name} was refused`);
  }

  delete(name: string): void {
    const { server } = this.cluster;
    server.attempt((api, call) => api.delete(server.target('pods', 'default', name), {}, call));
  }

  get(name: string): Pod | undefined {
    const { server } = this.cluster;
    return server.attempt((api) => api.get(server.target('pods', 'default', name))) as unknown as Pod | undefined;
  }

  /** A child of the agent or of its cluster throws. */
  fails(actorId: string): void {
    type Parent = { getSnapshot(): { children: Record<string, Parent> }; send(event: object): void };
    const agent = this.world.agent as unknown as Parent;
    const { cluster } = agent.getSnapshot().children;
    const parent = cluster?.getSnapshot().children[actorId] ? cluster : agent;
    parent.send({ type: `xstate.error.actor.${actorId}`, actorId, error: new Error('a bug') });
  }

  /** Every call of that kind goes so from now on. */
  calls(op: string, fate: 'hangs' | 'fails'): void {
    this.world.runtime.script = (own) => (own === op ? fate : undefined);
  }

  /** Creates fail for what a configuration lacks. */
  lacks(message: string): void {
    this.world.runtime.createContainer = () => {
      throw new AgentError({ op: 'createContainer', reason: 'CreateContainerConfigError', message, transient: true });
    };
  }

  /** The newest container of that name. */
  container(name: string) {
    const found = [...this.world.runtime.containers.values()].findLast((each) => each.name === name);
    if (!found) throw new Error(`no container ${name}`);
    return found;
  }
}

/** A pod of one container, `app`, that runs until it is stopped. */
function podOf(name: string, spec: object, container: object, metadata: object = {}) {
  const app = { name: 'app', image: 'present:1', imagePullPolicy: 'IfNotPresent', command: ['run'], ...container };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { terminationGracePeriodSeconds: 30, containers: [app], ...spec },
  };
}
