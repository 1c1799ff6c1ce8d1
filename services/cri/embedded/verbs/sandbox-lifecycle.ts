import { randomBytes } from 'node:crypto';

import { ContainerEventType } from '../../proto/generated/cri.ts';
import { nowNs } from '../clock.ts';
import { invalid } from '../errors.ts';
import { sandboxName } from '../names.ts';
import type { Runtime, SandboxEntry } from '../runtime.ts';
import { isHostNetwork } from '../statuses.ts';
import { killContainer, removeContainerEntry } from './container-end.ts';
import type { Verb } from './verb.ts';
import { makeDirectory } from '../../../host/make-directory.ts';

/** Makes a sandbox: a record, a name, an address of the loopback network, the log directory. No process. */
export const runPodSandbox: Verb<'RunPodSandbox'> = async (runtime, request, context) => {
  const { config } = request;
  if (config?.metadata === undefined) throw invalid('sandbox config must include metadata');
  if (request.runtimeHandler !== '') {
    throw invalid(`failed to get sandbox runtime: no runtime for "${request.runtimeHandler}" is configured`);
  }
  const id = randomBytes(32).toString('hex');
  const name = sandboxName(config);
  runtime.reserve('sandbox', name, id);
  try {
    await context.midway();
    if (config.logDirectory !== '') await makeDirectory(config.logDirectory);
    const ip = isHostNetwork(config) ? '' : freeAddress(runtime);
    const entry: SandboxEntry = {
      name,
      record: { id, config, runtimeHandler: request.runtimeHandler, state: 'ready', createdAt: nowNs(), ip },
    };
    runtime.sandboxes.set(id, entry);
    await runtime.records.saveSandbox(entry.record);
  } catch (error) {
    runtime.sandboxes.delete(id);
    runtime.release('sandbox', name);
    throw error;
  }
  runtime.publish(ContainerEventType.CONTAINER_CREATED_EVENT, id, id);
  runtime.publish(ContainerEventType.CONTAINER_STARTED_EVENT, id, id);
  return { podSandboxId: id };
};

/** Kills what runs in the sandbox and makes it not ready. One that is not there is fine. */
export const stopPodSandbox: Verb<'StopPodSandbox'> = async (runtime, request) => {
  const entry = runtime.findSandbox(request.podSandboxId);
  if (entry !== undefined) await stop(runtime, entry);
  return {};
};

/** Stops the sandbox, then removes it with its containers. One that is not there is fine. */
export const removePodSandbox: Verb<'RemovePodSandbox'> = async (runtime, request) => {
  const entry = runtime.findSandbox(request.podSandboxId);
  if (entry === undefined) return {};
  const { id } = entry.record;
  await stop(runtime, entry);
  await Promise.all(runtime.containersOf(id).map((container) => removeContainerEntry(runtime, container)));
  if (!runtime.sandboxes.has(id)) return {};
  await runtime.records.removeSandbox(id);
  runtime.sandboxes.delete(id);
  runtime.release('sandbox', entry.name);
  runtime.publish(ContainerEventType.CONTAINER_DELETED_EVENT, id, id);
  return {};
};

async function stop(runtime: Runtime, entry: SandboxEntry): Promise<void> {
  const { record } = entry;
  const wasReady = record.state === 'ready';
  // First, so that nothing new is created or started in it meanwhile.
  record.state = 'notReady';
  await Promise.all(runtime.containersOf(record.id).map(killContainer));
  if (!wasReady) return;
  await runtime.records.saveSandbox(record);
  runtime.publish(ContainerEventType.CONTAINER_STOPPED_EVENT, record.id, record.id);
}

/** The lowest of 127.88.0.1 … 127.88.255.254 that no sandbox has. */
function freeAddress(runtime: Runtime): string {
  const taken = new Set([...runtime.sandboxes.values()].map((entry) => entry.record.ip));
  for (let number = 1; number < 0xffff; number += 1) {
    const address = `127.88.${number >> 8}.${number & 0xff}`;
    if (!taken.has(address)) return address;
  }
  throw new Error('no free address is left in 127.88.0.0/16');
}
