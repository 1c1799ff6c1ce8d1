import { PodSandbox } from '../../proto/generated/cri.ts';
import { nowNs } from '../clock.ts';
import { containerStatus, hasLabels, sandboxState, sandboxStatus } from '../statuses.ts';
import { verboseInfo } from './verb.ts';
import type { Verb } from './verb.ts';

/** One sandbox with the statuses of its containers. `verbose` adds its config as JSON. */
export const podSandboxStatus: Verb<'PodSandboxStatus'> = (runtime, request) => {
  const { record } = runtime.sandbox(request.podSandboxId);
  return {
    status: sandboxStatus(record),
    info: verboseInfo(request.verbose, { sandboxConfig: { metadata: record.config.metadata } }),
    containersStatuses: runtime.containersOf(record.id).map((each) => containerStatus(runtime.images, each.record)),
    timestamp: nowNs(),
  };
};

/** Sandboxes that fit the filter's id (or the beginning of one), state and labels, all of them. */
export const listPodSandbox: Verb<'ListPodSandbox'> = (runtime, { filter }) => {
  const items = [...runtime.sandboxes.values()]
    .map(({ record }) => record)
    .filter(
      (record) =>
        record.id.startsWith(filter?.id ?? '') &&
        (filter?.state === undefined || filter.state.state === sandboxState(record)) &&
        hasLabels(record.config.labels, filter?.labelSelector ?? {}),
    )
    .map((record) =>
      PodSandbox.fromPartial({
        id: record.id,
        metadata: record.config.metadata,
        state: sandboxState(record),
        createdAt: record.createdAt,
        labels: record.config.labels,
        annotations: record.config.annotations,
        runtimeHandler: record.runtimeHandler,
      }),
    );
  return { items };
};
