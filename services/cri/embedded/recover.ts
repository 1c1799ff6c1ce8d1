import { nowNs } from './clock.ts';
import { CONTAINER_ID_VARIABLE, EXEC_ID_VARIABLE } from './command.ts';
import { containerName, sandboxName } from './names.ts';
import { isAlive, listPids, readEnvironment, readStat } from './proc.ts';
import type { ProcessStat } from './proc.ts';
import { adopt } from './process.ts';
import { signalGroup } from './signals.ts';
import type { ContainerRecord } from './records.ts';
import type { ContainerEntry, Runtime } from './runtime.ts';

/**
 * Fills a runtime from its records: sandboxes and containers are as they were, live processes are adopted, and a
 * container whose process ended while no server looked has exited with code 255 and reason Unknown.
 */
export async function recover(runtime: Runtime): Promise<void> {
  for (const record of await runtime.records.loadSandboxes()) {
    const name = sandboxName(record.config);
    runtime.reserve('sandbox', name, record.id);
    runtime.sandboxes.set(record.id, { record, name });
  }
  const containers = await runtime.records.loadContainers();
  if (containers.length > 0) await settleUnrecorded(containers);
  for (const record of containers) {
    const sandbox = runtime.sandboxes.get(record.sandboxId);
    if (sandbox === undefined) {
      // Its sandbox was removed after it, save for this record.
      await runtime.records.removeContainer(record.id);
      continue;
    }
    const name = containerName(sandbox.record.config, record.config);
    runtime.reserve('container', name, record.id);
    const entry: ContainerEntry = { record, name, exited: Promise.resolve() };
    runtime.containers.set(record.id, entry);
    if (record.phase === 'running') await resume(runtime, entry);
  }
}

async function resume(runtime: Runtime, entry: ContainerEntry): Promise<void> {
  const { record } = entry;
  if (await isAlive(record.pid, record.pidStartTime)) {
    const outlet = {
      directory: runtime.records.containerDirectory(record.id),
      logPath: record.logPath,
      tty: record.config.tty,
      stdin: record.config.stdin,
      logger: runtime.logger,
    };
    runtime.attach(entry, await adopt(record.pid, record.pidStartTime, outlet));
    await runtime.records.saveContainer(record);
    return;
  }
  Object.assign(record, { phase: 'exited', finishedAt: nowNs(), exitCode: 255, reason: 'Unknown' });
  await runtime.records.saveContainer(record);
}

/**
 * Settles what a killed server had under way. Between making a process and recording its pid it leaves a container
 * `starting`: the process carries the container's id in its environment, and where there is none the container has
 * not been started. Commands that were executed beside a container are killed, for nobody waits for them any more.
 */
async function settleUnrecorded(containers: readonly ContainerRecord[]): Promise<void> {
  const ids = new Set(containers.map((record) => record.id));
  const started = new Map<string, ProcessStat>();
  for (const pid of await listPids()) {
    const environment = await readEnvironment(pid);
    const valueOf = (name: string): string =>
      environment?.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
    const [owner, executedIn] = [valueOf(CONTAINER_ID_VARIABLE), valueOf(EXEC_ID_VARIABLE)];
    if (!ids.has(owner) && !ids.has(executedIn)) continue;
    const stat = await readStat(pid);
    if (stat?.processGroup !== pid) continue;
    if (ids.has(executedIn)) signalGroup(pid, 'SIGKILL');
    else started.set(owner, stat);
  }
  for (const record of containers) {
    if (record.phase !== 'starting') continue;
    const stat = started.get(record.id);
    if (stat === undefined) record.phase = 'created';
    else Object.assign(record, { phase: 'running', pid: stat.pid, pidStartTime: stat.startTime, startedAt: nowNs() });
  }
}
