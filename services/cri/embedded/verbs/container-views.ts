import { status } from '@grpc/grpc-js';

import { Container, LinuxContainerResources } from '../../proto/generated/cri.ts';
import { RuntimeFailure, refused } from '../errors.ts';
import { containerState, containerStatus, hasLabels, imageName } from '../statuses.ts';
import { verboseInfo } from './verb.ts';
import type { Verb } from './verb.ts';

/** One container. `verbose` adds its pid as JSON. */
export const containerStatusVerb: Verb<'ContainerStatus'> = (runtime, request) => {
  const { record } = runtime.container(request.containerId);
  return {
    status: containerStatus(runtime.images, record),
    info: verboseInfo(request.verbose, { pid: record.pid, sandboxID: record.sandboxId }),
  };
};

/** Containers that fit the filter's id and sandbox id (or beginnings of them), state and labels, all of them. */
export const listContainers: Verb<'ListContainers'> = (runtime, { filter }) => {
  const containers = [...runtime.containers.values()]
    .map(({ record }) => record)
    .filter(
      (record) =>
        record.id.startsWith(filter?.id ?? '') &&
        record.sandboxId.startsWith(filter?.podSandboxId ?? '') &&
        (filter?.state === undefined || filter.state.state === containerState(record)) &&
        hasLabels(record.config.labels, filter?.labelSelector ?? {}),
    )
    .map((record) =>
      Container.fromPartial({
        id: record.id,
        podSandboxId: record.sandboxId,
        metadata: record.config.metadata,
        image: { ...record.config.image, image: imageName(runtime.images, record) },
        imageRef: record.imageRef,
        imageId: record.imageId,
        state: containerState(record),
        createdAt: record.createdAt,
        labels: record.config.labels,
        annotations: record.config.annotations,
      }),
    );
  return { containers };
};

/** Records new limits, which status then reports; a plain process is not held to them. Zero leaves a limit as it was. */
export const updateContainerResources: Verb<'UpdateContainerResources'> = async (runtime, request) => {
  const { record } = runtime.container(request.containerId);
  if (record.phase === 'exited') throw refused(`failed to update resources: container is in CONTAINER_EXITED state`);
  if (request.windows !== undefined) {
    throw new RuntimeFailure(status.INVALID_ARGUMENT, 'windows resources on a Linux runtime');
  }
  const given = Object.entries(request.linux ?? {}).filter(([, value]) => !isUnset(value));
  record.resources = LinuxContainerResources.fromPartial({ ...record.resources, ...Object.fromEntries(given) });
  Object.assign(record.config.annotations, request.annotations);
  await runtime.records.saveContainer(record);
  return {};
};

/** Opens the log's path anew after the agent has renamed the file. */
export const reopenContainerLog: Verb<'ReopenContainerLog'> = async (runtime, request) => {
  const { process, record } = runtime.container(request.containerId);
  if (process === undefined) throw refused(`container is not running`);
  if (process.log === undefined) throw refused(`container "${record.id}" has no log`);
  await process.log.reopen();
  return {};
};

function isUnset(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === 0n || value === '';
}
