import type { AnyStateMachine } from 'xstate';
import { leaseMachine } from '../machines/node/lease.machine.ts';
import { logRotationMachine } from '../machines/node/log-rotation.machine.ts';
import { nodeStatusMachine } from '../machines/node/node-status.machine.ts';
import { nodeMachine } from '../machines/node/node.machine.ts';
import { runtimeHealthMachine } from '../machines/node/runtime-health.machine.ts';
import { containerMachine } from '../machines/pod/container.machine.ts';
import { imagePullMachine } from '../machines/pod/image-pull.machine.ts';
import { podMachine } from '../machines/pod/pod.machine.ts';
import { probeMachine } from '../machines/pod/probe.machine.ts';
import { volumeMachine } from '../machines/pod/volume.machine.ts';
import { apiSourceMachine } from '../machines/syncloop/api-source.machine.ts';
import { clusterMachine } from '../machines/syncloop/cluster.machine.ts';
import { eventRecorderMachine } from '../machines/syncloop/event-recorder.machine.ts';
import { housekeepingMachine } from '../machines/syncloop/housekeeping.machine.ts';
import { inspectionMachine } from '../machines/syncloop/inspection.machine.ts';
import { plegMachine } from '../machines/syncloop/pleg.machine.ts';
import { podSourceMachine } from '../machines/syncloop/pod-source.machine.ts';
import { podWriterMachine } from '../machines/syncloop/pod-writer.machine.ts';
import { statusWriterMachine } from '../machines/syncloop/status-writer.machine.ts';
import { syncloopMachine } from '../machines/syncloop/syncloop.machine.ts';

/** Every machine of the agent, by the name of its page. */
export const machines: Record<string, AnyStateMachine> = {
  syncloop: syncloopMachine,
  pleg: plegMachine,
  inspection: inspectionMachine,
  'pod-source': podSourceMachine,
  housekeeping: housekeepingMachine,
  'runtime-health': runtimeHealthMachine,
  'log-rotation': logRotationMachine,
  pod: podMachine,
  container: containerMachine,
  'image-pull': imagePullMachine,
  probe: probeMachine,
  volume: volumeMachine,
  cluster: clusterMachine,
  'api-source': apiSourceMachine,
  'status-writer': statusWriterMachine,
  'pod-writer': podWriterMachine,
  node: nodeMachine,
  'node-status': nodeStatusMachine,
  lease: leaseMachine,
  'event-recorder': eventRecorderMachine,
};
