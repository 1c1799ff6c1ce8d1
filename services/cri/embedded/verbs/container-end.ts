import { constants } from 'node:os';

import { status } from '@grpc/grpc-js';

import { longSleep } from '../../../timers.ts';
import { ContainerEventType, Signal } from '../../proto/generated/cri.ts';
import { RuntimeFailure, invalid } from '../errors.ts';
import { aborted } from '../faults.ts';
import { signalGroup, signalProcess } from '../signals.ts';
import type { ContainerEntry, Runtime } from '../runtime.ts';
import type { Verb } from './verb.ts';

/**
 * Sends the stop signal to the container's first process, waits for up to `timeout` seconds, then kills the whole
 * process group. A container that does not run, or is not there, is fine. A client that gives up ends the wait with
 * the signal sent and nothing killed.
 */
export const stopContainer: Verb<'StopContainer'> = async (runtime, request, { signal }) => {
  const entry = runtime.findContainer(request.containerId);
  if (entry?.process === undefined) return {};
  if (request.timeout > 0n) {
    signalProcess(entry.process.pid, stopSignal(entry.record.config.stopSignal));
    const outcome = await exitWithin(entry, Number(request.timeout) * 1_000, signal);
    if (outcome === 'exited') return {};
    if (outcome === 'cancelled') {
      throw new RuntimeFailure(status.CANCELLED, `wait container "${entry.record.id}": context canceled`);
    }
  }
  await killContainer(entry);
  return {};
};

/** Kills what runs of the container and removes it with its directory; its log file stays. Absent is fine. */
export const removeContainer: Verb<'RemoveContainer'> = async (runtime, request) => {
  const entry = runtime.findContainer(request.containerId);
  if (entry !== undefined) await removeContainerEntry(runtime, entry);
  return {};
};

/** Kills the container's process group and waits until its end is on record. */
export async function killContainer(entry: ContainerEntry): Promise<void> {
  // A start that is under way settles first: it makes a process that has to go too.
  await entry.starting;
  if (entry.process === undefined) return;
  signalGroup(entry.process.pid, 'SIGKILL');
  await entry.exited;
}

export async function removeContainerEntry(runtime: Runtime, entry: ContainerEntry): Promise<void> {
  const { id, sandboxId } = entry.record;
  entry.removing = true;
  await killContainer(entry);
  if (runtime.containers.get(id) !== entry) return;
  await runtime.records.removeContainer(id);
  if (!runtime.containers.delete(id)) return;
  runtime.release('container', entry.name);
  runtime.publish(ContainerEventType.CONTAINER_DELETED_EVENT, id, sandboxId);
}

async function exitWithin(
  entry: ContainerEntry,
  milliseconds: number,
  signal: AbortSignal,
): Promise<'exited' | 'timeout' | 'cancelled'> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      entry.exited.then(() => 'exited' as const),
      longSleep(milliseconds, timer.signal).then(() => 'timeout' as const),
      aborted(signal).then(() => 'cancelled' as const),
    ]);
  } finally {
    timer.abort();
  }
}

const SIGNAL_NAMES = new Map<number, string>(Object.entries(Signal).map(([name, number]) => [number, name]));
/** The kernel's real-time signals as glibc counts them. */
const SIGRTMIN = 34;
const SIGRTMAX = 64;

/** The host's number of a CRI stop signal; TERM where the config leaves it to the runtime. */
function stopSignal(signal: Signal): number {
  if (signal === Signal.SIGNAL_RUNTIME_DEFAULT) return constants.signals.SIGTERM;
  const name = (SIGNAL_NAMES.get(signal) ?? '').replace('SIGNAL_', '');
  const realTime = /^SIGRT(MIN|MAX)(?:(?:PLUS|MINUS)(\d+))?$/.exec(name);
  if (realTime !== null) {
    const offset = Number(realTime[2] ?? 0);
    return realTime[1] === 'MIN' ? SIGRTMIN + offset : SIGRTMAX - offset;
  }
  const aliases: Record<string, string> = { SIGCLD: 'SIGCHLD', SIGPOLL: 'SIGIO' };
  const number = Object.entries(constants.signals).find(([key]) => key === (aliases[name] ?? name))?.[1];
  if (number === undefined) throw invalid(`stop signal ${name || signal} does not exist on this host`);
  return number;
}
