import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import {
  createLiveSystem,
  type LiveSystemOptions,
  type RunningLiveSystem,
} from '../../../services/live/live-system.ts';
import type { Transition } from '../../../services/live/live.types.ts';
import { World } from '../../support/world/world.ts';

/** A whole simulated agent under the live view. */
export interface LiveWorld {
  world: World;
  live: RunningLiveSystem;
  problems: string[];
  /** Starts the agent anew, with a live view of its own, as after a kill. */
  restart(kept?: readonly Transition[]): RunningLiveSystem;
}

export function liveWorld(seed = 1, options: Partial<LiveSystemOptions> = {}): LiveWorld {
  const world = new World(seed);
  const problems: string[] = [];
  for (const image of ['present:1', 'present:2']) world.runtime.images.add(image);
  const make = () =>
    createLiveSystem({ now: () => world.clock.now(), tell: (message) => problems.push(message), ...options });
  const result: LiveWorld = {
    world,
    live: make(),
    problems,
    restart(kept = []) {
      world.kill();
      result.live = make();
      result.live.recall(kept);
      world.start(result.live.inspect);
      return result.live;
    },
  };
  return result;
}

export const at = (name: string) => `/manifests/${name}.yaml`;

/** A pod of one container, `app`, that runs until it is stopped. */
export function podOf(name: string, spec: object = {}, container: object = {}, metadata: object = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: {
      terminationGracePeriodSeconds: 10,
      containers: [
        { name: 'app', image: 'present:1', imagePullPolicy: 'IfNotPresent', command: ['run'], ...container },
      ],
      ...spec,
    },
  };
}

/** The pod as the API server has it. */
export function apiPod({ metadata, ...pod }: DesiredPod, more: object = {}): DesiredPod {
  return { ...pod, metadata: { ...metadata, annotations: { 'kubernetes.io/config.source': 'api' }, ...more } };
}
