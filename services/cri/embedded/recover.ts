import { nowNs } from './clock.ts';
import { CONTAINER_ID_VARIABLE } from './command.ts';
import { isAlive, listPids, readEnvironment, readStat } from './proc.ts';
import { adopt } from './process.ts';
import type { ContainerRecord } from './records.ts';
import type { ContainerEntry, Runtime } from './runtime.ts';
import { sandboxName } from './verbs/sandbox-lifecycle.ts';

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
  if (containers.some((record) => record.phase === 'starting')) await findUnrecordedStarts(containers);
  for (const record of containers) {
    const sandbox = runtime.sandboxes.get(record.sandboxId);
    if (sandbox === undefined) {
      // Its sandbox was removed after it, save for this record.
      await runtime.records.removeContainer(record.id);
      continue;
    }
    const { name = '', attempt = 0 } = record.config.metadata ?? {};
    const fullName = `${name}_${sandbox.name.replace(/_\d+$/, '')}_${attempt}`;
    runtime.reserve('container', fullName, record.id);
    const entry: ContainerEntry = { record, name: fullName, exited: Promise.resolve() };
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
    return;
  }
  Object.assign(record, { phase: 'exited', finishedAt: nowNs(), exitCode: 255, reason: 'Unknown' });
  await runtime.records.saveContainer(record);
}

/**
 * A server killed between making a process and recording its pid leaves a container `starting`. The process carries
 * the container's id in its environment; where there is none the container has not been started.
 */
async function findUnrecordedStarts(containers: readonly ContainerRecord[]): Promise<void> {
  const leaders = new Map<string, number>();
  for (const pid of await listPids()) {
    const variable = (await readEnvironment(pid))?.find((each) => each.startsWith(`${CONTAINER_ID_VARIABLE}=`));
    const stat = variable === undefined ? undefined : await readStat(pid);
    if (variable !== undefined && stat?.processGroup === pid)
      leaders.set(variable.slice(variable.indexOf('=') + 1), pid);
  }
  for (const record of containers) {
    if (record.phase !== 'starting') continue;
    const pid = leaders.get(record.id);
    const stat = pid === undefined ? undefined : await readStat(pid);
    if (stat === undefined) record.phase = 'created';
    else Object.assign(record, { phase: 'running', pid, pidStartTime: stat.startTime, startedAt: nowNs() });
  }
}
