import type { AgentEnv, EventHappened, ParentRef, RecordedEvent } from '../agent.types.ts';
import type { NodeKnown, NodeReport, NodeSettings } from '../node/node.types.ts';
import type { EventRecorderReport } from './event-recorder.types.ts';
import type { StatusWriterEvent, WantedPod } from './status-writer.types.ts';
import type { HealthReport, SourceSet } from './reports.types.ts';

export interface ClusterSettings {
  node: NodeSettings;
  /** Longest time for events that are still to be written at a drain, ms. */
  drainMs: number;
}

export interface ClusterInput {
  env: AgentEnv;
  parent: ParentRef;
  nodeName: string;
  settings: ClusterSettings;
}

/** syncloop → cluster. */
export type ClusterRequest =
  | ({ type: 'pod.wanted'; uid: string } & WantedPod)
  | { type: 'pod.forgotten'; uid: string }
  /** Every source has delivered, the API itself among them. */
  | { type: 'sources.ready' }
  | Extract<HealthReport, { type: 'health.changed' }>
  /** An event to be written; whoever sends it has logged it. */
  | { type: 'event.record'; event: RecordedEvent }
  /** Look at the Node object afresh; answered by `node.known` with `looked`, when the API server answers. */
  | { type: 'node.look' }
  | { type: 'cluster.drain' };

/** cluster → syncloop. */
export type ClusterReport =
  | SourceSet
  | ({ type: 'node.known' } & Omit<NodeKnown, 'uid'>)
  | { type: 'node.absent' }
  /** For the log alone. */
  | { type: 'recorder.problem'; message: string }
  | { type: 'cluster.drained' }
  | EventHappened;

/** What the children of the cluster actor send it. */
export type FromClusterChildren =
  SourceSet | Extract<StatusWriterEvent, { type: 'api.pods' }> | NodeReport | EventRecorderReport | EventHappened;
