import { ContainerEventType } from '../../proto/generated/cri.ts';
import { nowNs } from '../clock.ts';
import { commandOf } from '../command.ts';
import { RuntimeFailure, refused } from '../errors.ts';
import { launch } from '../process.ts';
import type { ContainerEntry, Runtime } from '../runtime.ts';
import { containerState } from '../statuses.ts';
import { ContainerState } from '../../proto/generated/cri.ts';
import type { CallContext, Verb } from './verb.ts';

/** runc's exit code of a container whose process could not be made, and containerd's reason for it. */
const START_ERROR_EXIT_CODE = 128;
const START_ERROR_REASON = 'StartError';

/**
 * Starts the process of a created container. When that fails the container has exited with code 128 and reason
 * StartError, and the call is refused, as containerd does; no event tells of it.
 */
export const startContainer: Verb<'StartContainer'> = async (runtime, request, context) => {
  const entry = runtime.container(request.containerId);
  const { record } = entry;
  const reject = (why: string): never => {
    throw refused(`failed to set starting state for container "${record.id}": ${why}`);
  };
  if (entry.removing) reject("container is in removing state, can't be started");
  if (entry.starting) reject('container is already in starting state');
  if (record.phase !== 'created') reject(`container is in ${stateName(entry)} state`);
  const started = start(runtime, entry, context);
  entry.starting = started.catch(() => undefined);
  try {
    await started;
  } finally {
    entry.starting = undefined;
  }
  return {};
};

async function start(runtime: Runtime, entry: ContainerEntry, context: CallContext): Promise<void> {
  const { record } = entry;
  try {
    await context.midway();
    if (runtime.sandboxes.get(record.sandboxId)?.record.state !== 'ready') {
      throw refused(`sandbox container "${record.sandboxId}" is not running`);
    }
    record.phase = 'starting';
    await runtime.records.saveContainer(record);
    const child = await launch(await commandOf(runtime, entry), {
      directory: runtime.records.containerDirectory(record.id),
      logPath: record.logPath,
      tty: record.config.tty,
      stdin: record.config.stdin,
      logger: runtime.logger,
    });
    Object.assign(record, { phase: 'running', pid: child.pid, pidStartTime: child.startTime, startedAt: nowNs() });
    runtime.attach(entry, child);
  } catch (error) {
    const failure = RuntimeFailure.from(error);
    const message = `failed to create containerd task: failed to start container process: ${failure.message}`;
    Object.assign(record, {
      phase: 'exited',
      finishedAt: nowNs(),
      exitCode: START_ERROR_EXIT_CODE,
      reason: START_ERROR_REASON,
      message,
    });
    await runtime.records.saveContainer(record);
    throw new RuntimeFailure(failure.code, message);
  }
  await runtime.records.saveContainer(record);
  runtime.publish(ContainerEventType.CONTAINER_STARTED_EVENT, record.id, record.sandboxId);
}

function stateName(entry: ContainerEntry): string {
  const state = containerState(entry.record);
  return Object.entries(ContainerState).find(([, number]) => number === state)?.[0] ?? String(state);
}
