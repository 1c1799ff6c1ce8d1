import type { Logger } from 'pino';
import type { AgentEnv } from '../machines/agent.types.ts';
import type { NodeView } from '../machines/pod/policy/admit/admission.types.ts';
import type { HostPaths, PodHost } from '../services/host/host.types.ts';
import { createFactStore, secretStores } from '../services/host/index.ts';
import type { Kube } from '../services/kube/client.ts';
import { environmentReader } from '../services/kube/environment.ts';
import { keptByPod } from '../services/kube/kept-by-pod.ts';
import { configObjects } from '../services/kube/objects/index.ts';
import { keptObjects } from '../services/kube/objects/kept-objects.ts';
import { nodeServices } from '../services/kube/objects/watched-services.ts';
import { serviceAccountTokens } from '../services/kube/tokens.ts';
import { followObjects, volumeSlots } from '../services/kube/volume-slots.ts';
import type { LoadedConfig } from './config/load-config.ts';
import { changeDetection } from './settings.ts';

interface Node {
  paths: HostPaths;
  host: PodHost;
  view: NodeView;
  log: Logger;
  env: AgentEnv;
}

/** What pods get of the API's objects, what is kept of them, and the API server's side of the agent. */
export async function podObjects(
  { config }: LoadedConfig,
  kube: Kube | undefined,
  { paths, host, view, log, env }: Node,
) {
  const logger = log;
  const { random } = env;
  const secrets = await secretStores(paths, log);
  const { allocatable } = view;
  const objects =
    kube &&
    configObjects({
      kube,
      strategy: changeDetection(config),
      kept: keptObjects({
        ConfigMap: keptByPod(createFactStore(paths, log, 'config-maps')),
        Secret: keptByPod(secrets('objects')),
      }),
      random,
      logger,
    });
  const tokens = kube && serviceAccountTokens({ kube, kept: keptByPod(secrets('tokens')), env, logger });
  const services =
    kube && nodeServices({ kube, kept: keptByPod(createFactStore(paths, log, 'services')), random, logger });
  const followed = objects &&
    services && {
      follow: (...[pod, changed]: Parameters<typeof objects.follow>) => {
        const ends = [objects.follow(pod, changed), services.follow(pod)];
        return () => {
          for (const end of ends) end();
        };
      },
    };
  const keptPods = createFactStore(paths, log, 'pods');
  const sweepKept = async (keep: ReadonlySet<string>) => {
    // One that cannot be swept keeps from none of the others.
    const swept = await Promise.allSettled([objects?.sweep(keep), tokens?.sweep(keep), services?.sweep(keep)]);
    for (const each of swept) if (each.status === 'rejected') throw each.reason;
  };
  return {
    environment: environmentReader({ allocatable, objects, services }),
    volumes: { ...volumeSlots({ host, allocatable, objects, tokens }), followObjects: followObjects(followed) },
    keptManifests: createFactStore(paths, log, 'manifests'),
    sweepKept,
    cluster: kube && { kube, keptPods, random },
    /** Ends what follows the API, and the connection to it. */
    close() {
      services?.close();
      kube?.close();
    },
  };
}
