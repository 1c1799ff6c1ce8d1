import type { Logger } from 'pino';
import type { NodeView } from '../machines/pod/policy/admit/admission.types.ts';
import type { SyncloopSettings } from '../machines/syncloop/syncloop.types.ts';
import type { HostPaths } from '../services/host/host.types.ts';
import { createFactStore, createSecretStore } from '../services/host/index.ts';
import type { Kube } from '../services/kube/client.ts';
import { environmentReader } from '../services/kube/environment.ts';
import { configObjects } from '../services/kube/objects/index.ts';
import { keptObjects } from '../services/kube/objects/kept-objects.ts';
import type { ChangeDetection } from '../services/kube/objects/objects.types.ts';
import type { LoadedConfig } from './config/load-config.ts';

/** What pods get of the API's objects, what is kept of them, and the API server's side of the agent. */
export async function podObjects(
  { config }: LoadedConfig,
  kube: Kube | undefined,
  { paths, settings, view, log }: { paths: HostPaths; settings: SyncloopSettings; view: NodeView; log: Logger },
) {
  const kept = async () =>
    keptObjects({
      ConfigMap: createFactStore(paths, log, 'config-maps'),
      Secret: await createSecretStore(paths, log, 'objects'),
    });
  const objects =
    kube &&
    configObjects({
      kube,
      strategy: (config.configMapAndSecretChangeDetectionStrategy || 'Watch') as ChangeDetection,
      kept: await kept(),
      random: Math.random,
      logger: log,
    });
  const keptPods = createFactStore(paths, log, 'pods');
  return {
    environment: environmentReader({ hostIPs: settings.pod.hostIPs, allocatable: view.allocatable, objects }),
    keptManifests: createFactStore(paths, log, 'manifests'),
    cluster: kube && objects && { kube, objects, keptPods, random: Math.random },
  };
}
