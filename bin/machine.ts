import { fromPromise } from 'xstate';
import { leaseMachine } from '../machines/node/lease.machine.ts';
import { logRotationMachine } from '../machines/node/log-rotation.machine.ts';
import { nodeStatusMachine } from '../machines/node/node-status.machine.ts';
import { nodeMachine } from '../machines/node/node.machine.ts';
import type { HostFacts } from '../machines/node/node.types.ts';
import { runtimeHealthMachine } from '../machines/node/runtime-health.machine.ts';
import { containerMachine } from '../machines/pod/container.machine.ts';
import { imagePullMachine } from '../machines/pod/image-pull.machine.ts';
import { podMachine } from '../machines/pod/pod.machine.ts';
import type { FollowObjectsInput, PodSlots } from '../machines/pod/pod.types.ts';
import { probeMachine } from '../machines/pod/probe.machine.ts';
import type { ProbeSlots } from '../machines/pod/probe.types.ts';
import { volumeMachine } from '../machines/pod/volume.machine.ts';
import type { VolumeSlots } from '../machines/pod/volume.types.ts';
import type { WatchSlot } from '../machines/slot.types.ts';
import { apiSourceMachine } from '../machines/syncloop/api-source.machine.ts';
import { clusterMachine } from '../machines/syncloop/cluster.machine.ts';
import { eventRecorderMachine } from '../machines/syncloop/event-recorder.machine.ts';
import { housekeepingMachine } from '../machines/syncloop/housekeeping.machine.ts';
import { inspectionMachine } from '../machines/syncloop/inspection.machine.ts';
import { plegMachine } from '../machines/syncloop/pleg.machine.ts';
import { podWriterMachine } from '../machines/syncloop/pod-writer.machine.ts';
import { podSourceMachine } from '../machines/syncloop/pod-source.machine.ts';
import { statusWriterMachine } from '../machines/syncloop/status-writer.machine.ts';
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
import { nodeFactSlots } from '../services/cri/node-facts.ts';
import { watchRuntime } from '../services/cri/watch-runtime.ts';
import { execSync } from '../services/cri/verbs/exec-sync.ts';
import type { FactStore } from '../services/host/facts.ts';
import { podSourceSlots } from '../services/host/index.ts';
import { runProbe } from '../services/host/probes/index.ts';
import type { Kube } from '../services/kube/client.ts';
import { apiSourceSlots, eventRecorderSlots, nodeSlots, podWriterSlots } from '../services/kube/index.ts';

export interface MachineServices extends CriServices {
  now: () => number;
  pulls: PullSettings;
  recordEnd: PodSlots['recordEnd'];
  keepVerdict: ProbeSlots['keepVerdict'];
  /** Sent with requests for manifests (--manifest-url-header). */
  manifestHeaders: Record<string, string[]>;
  keptManifests: FactStore;
  /** Longest wait for calls in flight at a drain, ms. */
  settleMs: number;
  volumes: VolumeSlots & { followObjects: WatchSlot<FollowObjectsInput> };
  /** Forgets what was kept of the API for pods that are not in `keep`. */
  sweepKept: (keep: ReadonlySet<string>) => Promise<void>;
  readHost: (signal?: AbortSignal) => Promise<HostFacts>;
  /** Undefined without an API server. */
  cluster?: ClusterServices;
}

export interface ClusterServices {
  kube: Kube;
  keptPods: FactStore;
  random: () => number;
}

/** The API server's side with its slots filled. */
function clusterActor({ cri, readHost }: MachineServices, { kube, keptPods, random }: ClusterServices) {
  const ofNode = { ...nodeSlots(kube), ...nodeFactSlots(cri, readHost) };
  const { createNode, getNode, patchNode, readNodeFacts, getLease, createLease, updateLease } = ofNode;
  const { patchNodeStatus, updateRuntimeConfig } = ofNode;
  const nodeStatus = nodeStatusMachine.provide({
    actors: { readNodeFacts, getNode, patchNodeStatus, updateRuntimeConfig },
  });
  const lease = leaseMachine.provide({ actors: { getLease, createLease, updateLease } });
  const podWriter = podWriterMachine.provide({ actors: podWriterSlots(kube) });
  return clusterMachine.provide({
    actors: {
      apiSource: apiSourceMachine.provide({ actors: apiSourceSlots(kube, keptPods, random) }),
      statusWriter: statusWriterMachine.provide({ actors: { podWriter } }),
      node: nodeMachine.provide({ actors: { readNodeFacts, createNode, getNode, patchNode, nodeStatus, lease } }),
      eventRecorder: eventRecorderMachine.provide({ actors: eventRecorderSlots(kube) }),
    },
  });
}

/** Every chart with its slots filled, from the leaves to the root. */
export function agentMachine(services: MachineServices) {
  const { cri, observer, now } = services;
  const imagePull = imagePullMachine.provide({ actors: imagePullSlots(services, services.pulls) });
  const run = runProbe((...command) => execSync(cri, ...command));
  const probe = probeMachine.provide({
    actors: { runProbe: fromPromise(({ input, signal }) => run(input, signal)), keepVerdict: services.keepVerdict },
  });
  const container = containerMachine.provide({ actors: { ...containerSlots(services), imagePull, probe } });
  const { mountVolume, followObjects } = services.volumes;
  const volume = volumeMachine.provide({ actors: { mountVolume } });
  const { recordEnd } = services;
  const pod = podMachine.provide({
    actors: { ...podSlots(services), recordEnd, followObjects, container, volume },
  });
  const { listRuntime, observePod } = plegSlots(services);
  const inspection = inspectionMachine.provide({ actors: { observePod } });
  const watch = watchRuntime(cri, observer, now);
  return syncloopMachine.provide({
    actors: {
      ...runtimeSlots(services, {
        settleMs: services.settleMs,
        settled: () => Promise.all([cri.settled(), services.cluster?.kube.settled()]),
      }),
      pod,
      ...(services.cluster && { cluster: clusterActor(services, services.cluster) }),
      pleg: plegMachine.provide({ actors: { listRuntime, inspection, watchRuntime: watch } }),
      podSource: podSourceMachine.provide({
        actors: podSourceSlots({ headers: services.manifestHeaders, kept: services.keptManifests }),
      }),
      runtimeHealth: runtimeHealthMachine.provide({ actors: runtimeHealthSlots(services) }),
      housekeeping: housekeepingMachine.provide({
        actors: housekeepingSlots(services, services.sweepKept),
      }),
      logRotation: logRotationMachine.provide({ actors: logRotationSlots(services) }),
    },
  });
}
