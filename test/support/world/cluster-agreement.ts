import type { ContainerStatus, DesiredPod, Node, Pod } from '../../../machines/kubernetes.types.ts';
import { MIRROR } from '../mirror.ts';
import { oneOfEachName } from './scenario.ts';
import { NODE, type World } from './world.ts';

/** A lease counts for 40 s; a report without a change comes every 5 min and somewhat later. */
const LEASE_MS = 40_000;
const REPORT_MS = 460_000;

/** What should be true of the API once nothing disturbs any more: it shows what the runtime has, and nothing else. */
export function disagreements(world: World): string[] {
  const { cluster } = world;
  if (!cluster) return [];
  const problems: string[] = [];
  for (const pod of cluster.bound()) problems.push(...ofPod(world, pod, pod.metadata.uid, pod));
  for (const { metadata } of cluster.pods())
    if (metadata?.deletionTimestamp) problems.push(`API pod ${metadata.name} (${metadata.uid}) is still being deleted`);
  problems.push(...ofMirrors(world), ...ofNode(world), ...ofEvents(world));
  for (const uid of cluster.kept.keys())
    if (!cluster.bound().some(({ metadata }) => metadata.uid === uid))
      problems.push(`pod ${uid} is gone and still kept`);
  return problems;
}

/** Each static pod has exactly its mirror pod. */
function ofMirrors(world: World): string[] {
  const problems: string[] = [];
  const mirrors = world.cluster?.mirrors() ?? [];
  const there = new Set([...world.runtime.sandboxes.values()].map(({ podUid }) => podUid));
  const statics = oneOfEachName(world.desired(), there);
  for (const pod of statics) {
    const { name, uid } = pod.metadata;
    const own = mirrors.filter(({ metadata }) => metadata?.name === name);
    const [mirror] = own;
    if (own.length !== 1 || !mirror) problems.push(`static pod ${name} has ${own.length} mirror pods`);
    else if (mirror.metadata?.annotations?.[MIRROR] !== uid) problems.push(`mirror pod ${name} shows another manifest`);
    else problems.push(...ofPod(world, mirror, uid, pod));
  }
  for (const { metadata } of mirrors)
    if (!statics.some((pod) => pod.metadata.name === metadata?.name))
      problems.push(`mirror pod ${metadata?.name} has no static pod`);
  return problems;
}

/** The status of one pod against the runtime's containers. */
function ofPod({ runtime }: World, { metadata, status }: Pod, uid: string, { spec }: DesiredPod): string[] {
  const problems: string[] = [];
  const what = `API pod ${metadata?.name} (${uid})`;
  const own = [...runtime.containers.values()].filter((c) => c.podUid === uid);
  const newest = (name: string) => own.filter((c) => c.name === name).sort((a, b) => b.attempt - a.attempt)[0];
  const running = own.filter((c) => c.state === 'running');
  const isOver = status?.phase === 'Failed' || status?.phase === 'Succeeded';
  if (isOver && running.length) problems.push(`${what} is ${status.phase} and something of it runs`);
  const shownFor = (list: ContainerStatus[] | undefined, name: string) => list?.find((c) => c.name === name);
  for (const [list, containers] of [
    [status?.containerStatuses, spec.containers],
    [status?.initContainerStatuses, spec.initContainers ?? []],
  ] as const)
    for (const { name } of containers) {
      const is = newest(name);
      const shown = shownFor(list, name);
      if (!is || isOver) continue;
      if (is.state === 'running' && (!shown?.state?.running || !shown.containerID?.endsWith(`//${is.id}`)))
        problems.push(`${what}: ${name} runs as ${is.id} and is shown as ${JSON.stringify(shown?.state)}`);
      if (is.state === 'exited' && shown?.state?.running)
        problems.push(`${what}: ${name} has ended and is shown as running`);
      const code = shown?.state?.terminated?.exitCode;
      if (is.state === 'exited' && code !== undefined && code !== is.exitCode)
        problems.push(`${what}: ${name} ended with ${is.exitCode} and is shown with ${code}`);
    }
  const allRun = spec.containers.every(({ name }) => newest(name)?.state === 'running');
  const condition = (type: string) => status?.conditions?.find((c) => c.type === type)?.status;
  const gates = spec.readinessGates?.every(({ conditionType }) => condition(conditionType) === 'True') ?? true;
  const side = (spec.initContainers ?? []).every(
    ({ name, restartPolicy }) => restartPolicy !== 'Always' || newest(name)?.state === 'running',
  );
  if (allRun && !isOver && status?.phase !== 'Running') problems.push(`${what} runs and is ${status?.phase}`);
  // A pod that was not taken in has no such conditions.
  if (isOver && !condition('Ready')) return problems;
  if (condition('ContainersReady') !== (allRun && side && !isOver ? 'True' : 'False'))
    problems.push(`${what}: ContainersReady is ${condition('ContainersReady')}, all run: ${allRun && side}`);
  if (condition('Ready') !== (allRun && side && gates && !isOver ? 'True' : 'False'))
    problems.push(`${what}: Ready is ${condition('Ready')}, all run: ${allRun && side}, gates: ${gates}`);
  return problems;
}

function ofNode({ cluster, clock }: World): string[] {
  const problems: string[] = [];
  const node = cluster?.server.api.store.get(`nodes/${NODE}`) as unknown as Node | undefined;
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  if (ready !== 'True') problems.push(node ? `the Node is Ready=${ready}` : 'there is no Node');
  const lease = cluster?.server.api.store.get(`coordination.k8s.io/leases/kube-node-lease/${NODE}`);
  if (!lease) problems.push('there is no Lease');
  else if (lease.metadata.ownerReferences?.[0]?.uid !== node?.metadata?.uid)
    problems.push('the Lease belongs to another Node');
  const since = (resource: string) => clock.elapsed - (cluster?.server.lastWrite.get(resource) ?? 0);
  if (since('leases') > LEASE_MS) problems.push(`the lease was renewed ${since('leases')} ms ago`);
  if (since('nodes/status') > REPORT_MS) problems.push(`the Node's status was written ${since('nodes/status')} ms ago`);
  return problems;
}

/** Events of one object beyond which the recorder cuts them. */
const BURST = 20;

/** What this agent told of its pods is in the API. */
function ofEvents({ cluster }: World): string[] {
  if (!cluster) return [];
  const written = cluster.server.api.store.list('events/') as unknown as {
    reason?: string;
    involvedObject: { name?: string; uid?: string };
  }[];
  const of = new Map<string, number>();
  for (const { pod } of cluster.events) of.set(pod?.uid ?? '', (of.get(pod?.uid ?? '') ?? 0) + 1);
  const missing = cluster.events.filter(
    ({ pod, reason }) =>
      pod &&
      (of.get(pod.uid) ?? 0) <= BURST &&
      !written.some((event) => event.reason === reason && event.involvedObject.name === pod.name),
  );
  return [...new Set(missing.map(({ reason, pod }) => `event ${reason} of ${pod?.name} is not in the API`))];
}
