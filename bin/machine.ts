import { logRotationMachine } from '../machines/node/log-rotation.machine.ts';
import { runtimeHealthMachine } from '../machines/node/runtime-health.machine.ts';
import { containerMachine } from '../machines/pod/container.machine.ts';
import { imagePullMachine } from '../machines/pod/image-pull.machine.ts';
import { podMachine } from '../machines/pod/pod.machine.ts';
import type { PodSlots } from '../machines/pod/pod.types.ts';
import { housekeepingMachine } from '../machines/syncloop/housekeeping.machine.ts';
import { inspectionMachine } from '../machines/syncloop/inspection.machine.ts';
import { plegMachine } from '../machines/syncloop/pleg.machine.ts';
import { podSourceMachine } from '../machines/syncloop/pod-source.machine.ts';
import { syncloopMachine } from '../machines/syncloop/syncloop.machine.ts';
import type { PullSettings } from '../services/cri/image-turns.ts';
import {
  containerSlots,
  housekeepingSlots,
  imagePullSlots,
  plegSlots,
  podSlots,
  runtimeHealthSlots,
  runtimeSlots,
  type CriServices,
} from '../services/cri/index.ts';
import { logRotationSlots } from '../services/cri/log-rotation.ts';
import { watchRuntime } from '../services/cri/watch-runtime.ts';
import type { FactStore } from '../services/host/facts.ts';
import { podSourceSlots } from '../services/host/index.ts';

export interface MachineServices extends CriServices {
  now: () => number;
  pulls: PullSettings;
  recordEnd: PodSlots['recordEnd'];
  /** Sent with requests for manifests (--manifest-url-header). */
  manifestHeaders: Record<string, string[]>;
  keptManifests: FactStore;
  /** Longest wait for calls in flight at a drain, ms. */
  settleMs: number;
}

/** Every chart with its slots filled, from the leaves to the root. */
export function agentMachine(services: MachineServices) {
  const { cri, observer, now } = services;
  const imagePull = imagePullMachine.provide({ actors: imagePullSlots(services, services.pulls) });
  const container = containerMachine.provide({ actors: { ...containerSlots(services), imagePull } });
  const pod = podMachine.provide({ actors: { ...podSlots(services), recordEnd: services.recordEnd, container } });
  const { listRuntime, observePod } = plegSlots(services);
  const inspection = inspectionMachine.provide({ actors: { observePod } });
  const watch = watchRuntime(cri, observer, now);
  return syncloopMachine.provide({
    actors: {
      ...runtimeSlots(services, { settleMs: services.settleMs }),
      pod,
      pleg: plegMachine.provide({ actors: { listRuntime, inspection, watchRuntime: watch } }),
      podSource: podSourceMachine.provide({
        actors: podSourceSlots({ headers: services.manifestHeaders, kept: services.keptManifests }),
      }),
      runtimeHealth: runtimeHealthMachine.provide({ actors: runtimeHealthSlots(services) }),
      housekeeping: housekeepingMachine.provide({ actors: housekeepingSlots(services) }),
      logRotation: logRotationMachine.provide({ actors: logRotationSlots(services) }),
    },
  });
}
