import { join } from 'node:path';
import type { Cri } from '../services/cri/client.ts';
import { ContainerConfig, PodSandboxConfig } from '../services/cri/proto/generated/cri.ts';
import { createContainer } from '../services/cri/verbs/create-container.ts';
import { removePodSandbox } from '../services/cri/verbs/remove-pod-sandbox.ts';
import { runPodSandbox } from '../services/cri/verbs/run-pod-sandbox.ts';
import { startContainer } from '../services/cri/verbs/start-container.ts';
import { stopPodSandbox } from '../services/cri/verbs/stop-pod-sandbox.ts';
import { live, now, type Folder } from './pods.ts';

const signal = new AbortController().signal;

function configs(name: string, folder: Folder) {
  const sandbox = PodSandboxConfig.fromPartial({
    metadata: { name, namespace: 'default', uid: name, attempt: 0 },
    logDirectory: join(folder.out, `logs-${name}`),
    linux: { cgroupParent: `/statelet-bench/${name}`, securityContext: { namespaceOptions: { network: 0, pid: 1 } } },
  });
  const container = ContainerConfig.fromPartial({
    metadata: { name: 'c', attempt: 0 },
    image: { image: 'docker.io/library/busybox:1.35' },
    command: ['/bin/sh', '-c', live(name)],
    logPath: 'c.log',
    mounts: [{ containerPath: '/out', hostPath: folder.out }],
    linux: {},
  });
  return { sandbox, container };
}

/** The three calls that a pod needs at the least; answers from the first call to the running process, ms. */
export async function rawStart(
  cri: Cri,
  name: string,
  folder: Folder,
): Promise<{ total: number; restart: number; id: string }> {
  const { sandbox, container } = configs(name, folder);
  const began = now();
  const id = await runPodSandbox(cri, sandbox, signal);
  const made = now();
  const c = await createContainer(cri, id, container, sandbox, signal);
  await startContainer(cri, c, signal);
  const ran = await folder.made(`${name}.0`);
  return { total: ran - began, restart: ran - made, id };
}

/** N pods, `workers` at a time, from a common start: when each process ran, ms from the start. */
export async function rawBurst(
  cri: Cri,
  names: readonly string[],
  workers: number,
  folder: Folder,
): Promise<{ ran: number[]; ids: string[] }> {
  const began = now();
  const queue = [...names];
  const ids: string[] = [];
  const worker = async () => {
    for (let name = queue.shift(); name; name = queue.shift()) ids.push((await rawStart(cri, name, folder)).id);
  };
  await Promise.all(Array.from({ length: workers }, worker));
  const ran = await Promise.all(names.map(async (name) => (await folder.made(`${name}.0`)) - began));
  return { ran, ids };
}

export async function rawRemove(cri: Cri, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await stopPodSandbox(cri, id, signal);
    await removePodSandbox(cri, id, signal);
  }
}
