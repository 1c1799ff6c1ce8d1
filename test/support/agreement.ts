import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { ContainerStatus, Pod, Volume } from '../../machines/kubernetes.types.ts';
import type { Cri } from '../../services/cri/client.ts';
import { ContainerState, PodSandboxState } from '../../services/cri/proto/generated/cri.ts';
import { listContainers } from '../../services/cri/verbs/list-containers.ts';
import { listPodSandbox } from '../../services/cri/verbs/list-pod-sandbox.ts';
import { mountsBelow, readMounts } from '../../services/host/mounts.ts';
import type { CgroupRoot } from './cgroup-root.ts';
import { BEGUN, STARTS_ANNOTATION, type Cluster } from './cluster.ts';
import { lines, type Daemon } from './daemon.ts';
import { commandsWith } from './embedded-process.ts';

/** All who have something of a node's pods. */
export interface Sides {
  cluster: Cluster;
  cri: Cri;
  daemon: Daemon;
  /** Where the agent makes cgroups. */
  cgroups?: CgroupRoot;
  /** Folder in which each start of a container is noted. */
  starts: string;
  /** Whether the runtime cancels a start whose client dies, as containerd does. */
  cancelsStarts?: boolean;
  /** What earlier looks have found of pods that may be gone by now. */
  past: Past;
}

/** What is known of pods that have left the API. */
export class Past {
  /** By UID on the node: how often a pod had begun when all agreed on it. */
  readonly agreed = new Map<string, number>();
  /** UIDs of pods that an agent was killed over, on a runtime that may then have cancelled their start: they begin once more. */
  readonly cancelled = new Set<string>();
}

/** What the tests want to be there. */
export interface Wanted {
  /** Names of the pods, and of no others, that the API is to have in the namespace of the tests. */
  pods: readonly string[];
  /** Those of them whose containers may have been restarted. */
  restarted?: readonly string[];
}

/** A pod of the API, with all that the comparison asks of it. */
interface Known {
  /** UID on the node: that of a mirror pod is its static pod's. */
  uid: string;
  name: string;
  phase: string;
  ends: boolean;
  statuses: ContainerStatus[];
  volumes: Volume[];
  starts?: string;
}

/**
 * In what the API server, the agent, the runtime, the processes, the disk, the mounts and the cgroups do not agree on the pods of the node,
 * one sentence each. Nothing, when all pods are there once, nothing is left of others, and nothing ran twice.
 */
export async function differences(sides: Sides, wanted: Wanted): Promise<string[]> {
  const found = await allDifferences(sides, wanted);
  // What all agree on now is what a pod may have begun when it is gone.
  if (found.length === 0) for (const [uid, begun] of await begunByUid(sides.starts)) sides.past.agreed.set(uid, begun.length); // prettier-ignore
  return found;
}

async function allDifferences(sides: Sides, wanted: Wanted): Promise<string[]> {
  const pods = await podsOfNode(sides.cluster);
  const names = pods.filter(({ namespace }) => namespace === sides.cluster.namespace).map(({ name }) => name);
  return [
    ...compare('the API', new Set(wanted.pods), new Set(names)),
    ...pods.flatMap(unsettled),
    ...(await inRuntime(sides.cri, pods)),
    ...(await inProcesses(sides, pods, wanted.restarted ?? [])),
    ...(await ofThePast(sides, pods)),
    ...(await onNode(sides, pods)),
    ...(await inMounts(sides.daemon, pods)),
  ];
}

async function podsOfNode({ kubectl, nodeName }: Cluster): Promise<(Known & { namespace: string })[]> {
  const { items } = await kubectl.get<{ items: Pod[] }>('pods', '-A', '--field-selector', `spec.nodeName=${nodeName}`);
  return items.map(({ metadata = {}, spec, status = {} }) => {
    const { name = '', namespace = '', uid = '', annotations = {}, deletionTimestamp } = metadata;
    return {
      uid: annotations['kubernetes.io/config.mirror'] ?? uid,
      name,
      namespace,
      phase: status.phase ?? '',
      ends: deletionTimestamp !== undefined,
      statuses: [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])],
      volumes: spec?.volumes ?? [],
      starts: annotations[STARTS_ANNOTATION],
    };
  });
}

const isOver = ({ phase }: Known) => phase === 'Succeeded' || phase === 'Failed';

function unsettled({ name, phase, ends }: Known): string[] {
  if (ends) return [`${name} still ends in the API`];
  return /^(Running|Succeeded|Failed)$/.test(phase) ? [] : [`${name} is ${phase} in the API`];
}

/** What is wanted and not there, and what is there and neither wanted nor allowed. */
function compare(who: string, wanted: Set<string>, has: Set<string>, allowed = wanted): string[] {
  const [missing, more] = [wanted.difference(has), has.difference(allowed)];
  return [
    ...(missing.size ? [`${who} lacks ${[...missing].join(', ')}`] : []),
    ...(more.size ? [`${who} has also ${[...more].join(', ')}`] : []),
  ];
}

/** One sandbox for each pod that runs, one container for each status that says so, and nothing of any other pod. */
async function inRuntime(cri: Cri, pods: readonly Known[]): Promise<string[]> {
  const [sandboxes, containers] = await Promise.all([listPodSandbox(cri, {}), listContainers(cri, {})]);
  const known = new Map(pods.map((pod) => [pod.uid, pod]));
  const uidOf = ({ labels }: { labels: Record<string, string> }) => labels['io.kubernetes.pod.uid'] ?? '';
  const nameOf = ({ labels }: { labels: Record<string, string> }) => labels['io.kubernetes.pod.name'] ?? '';
  const running = containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  const said = pods.flatMap(({ statuses }) => statuses.flatMap(({ state, containerID }) => (state?.running ? [bare(containerID)] : []))); // prettier-ignore
  return [
    ...sandboxes
      .filter((each) => !known.has(uidOf(each)))
      .map((each) => `the runtime has a sandbox of ${nameOf(each)}`),
    ...containers.filter((each) => !known.has(uidOf(each))).map((each) => `the runtime has a container of ${nameOf(each)}`), // prettier-ignore
    ...pods.flatMap((pod) => {
      const ready = sandboxes.filter(
        (each) => uidOf(each) === pod.uid && each.state === PodSandboxState.SANDBOX_READY,
      ).length;
      return ready === (isOver(pod) ? 0 : 1) ? [] : [`${pod.name} is ${pod.phase} with ${ready} sandboxes`];
    }),
    ...compare('the runtime', new Set(said), new Set(running.map(({ id }) => id))),
  ];
}

const bare = (containerID = '') => containerID.replace(/^.*:\/\//, '');

/** The processes themselves: each pod that runs has its own, once, and has begun as often as its status says. */
async function inProcesses(
  { cluster, starts }: Sides,
  pods: readonly Known[],
  restarted: readonly string[],
): Promise<string[]> {
  const mark = `: ${cluster.nodeName}/`;
  const commands = [...(await commandsWith(mark)).values()];
  const run = commands.map((command) => command.slice(command.indexOf(mark) + mark.length).split(';')[0] ?? '');
  const noting = pods.filter((pod) => pod.starts !== undefined);
  const alive = noting.filter((pod) => !isOver(pod)).map((pod) => pod.starts ?? '');
  const twice = run.filter((key, i) => run.indexOf(key) !== i).map((key) => `${key} runs twice`);
  const begun = await begunByUid(starts);
  const counts = noting.flatMap(({ uid, name, statuses }) => {
    const [{ restartCount = 0, lastState } = {} as Partial<ContainerStatus>] = statuses;
    const began = begun.get(uid)?.length ?? 0;
    // containerd cancels a start whose client dies: the process may have run for a moment, and its record says so.
    const cancelled = lastState?.terminated?.reason === 'StartError';
    // Nor has one begun that a killed agent had made and not started: its number is taken all the same.
    const neverRan = restartCount === 1 && lastState?.terminated === undefined;
    const least = restartCount + (cancelled || neverRan ? 0 : 1);
    const most = restarted.includes(name) || cancelled ? restartCount + 1 : 1;
    if (began >= least && began <= most) return [];
    return [`${name} began ${began} times, with ${restartCount} restarts in its status`];
  });
  return [...compare('of processes the node', new Set(alive), new Set(run)), ...twice, ...counts];
}

/** Keys of the starts of every pod that ever began, by its UID on the node. */
export async function begunByUid(starts: string): Promise<Map<string, string[]>> {
  const begun = new Map<string, string[]>();
  for (const line of await lines(join(starts, BEGUN))) {
    const [uid = '', key = ''] = line.split(' ');
    begun.set(uid, [...(begun.get(uid) ?? []), key]);
  }
  return begun;
}

/** No pod that is gone began more often than it had when all agreed on it; one that they never agreed on, once. */
async function ofThePast({ starts, past }: Sides, pods: readonly Known[]): Promise<string[]> {
  const there = new Set(pods.map(({ uid }) => uid));
  return [...(await begunByUid(starts))].flatMap(([uid, keys]) => {
    const most = past.agreed.get(uid) ?? (past.cancelled.has(uid) ? 2 : 1);
    return there.has(uid) || keys.length <= most ? [] : [`${keys[0]} (${uid}) is gone and began ${keys.length} times`];
  });
}

/** Memory in the folder of pods: of each pod that runs all that its volumes ask for, and of others none. */
async function inMounts({ rootDir }: Daemon, pods: readonly Known[]): Promise<string[]> {
  const folder = join(rootDir, 'pods');
  const alive = pods.filter((pod) => !isOver(pod));
  // Only root may mount: without that, secrets lie on disk.
  const wanted = process.geteuid?.() === 0 ? alive.flatMap(({ uid, volumes }) => volumes.flatMap((volume) => inMemory(volume).map((path) => join(uid, 'volumes', path)))) : []; // prettier-ignore
  const has = mountsBelow(await readMounts(), folder).map(({ path, fsType }) => [relative(folder, path), fsType]);
  return [
    ...compare('of mounts the folder of pods', new Set(wanted), new Set(has.map(([path = '']) => path))),
    ...has.flatMap(([path, fsType]) => (fsType === 'tmpfs' ? [] : [`${path} is ${fsType}, not memory`])),
  ];
}

/** Where a volume lies below its pod's volumes, if it is one that lies in memory (a kubelet's names of the plugins). */
function inMemory({ name, emptyDir, secret, projected, downwardAPI }: Volume): string[] {
  if (emptyDir?.medium === 'Memory') return [`kubernetes.io~empty-dir/${name}`];
  if (secret) return [`kubernetes.io~secret/${name}`];
  if (projected) return [`kubernetes.io~projected/${name}`];
  return downwardAPI ? [`kubernetes.io~downward-api/${name}`] : [];
}

/** What the agent shows and keeps: every pod of the API, and nothing of any other. */
async function onNode({ daemon, cgroups }: Sides, pods: readonly Known[]): Promise<string[]> {
  const all = new Set(pods.map(({ uid }) => uid));
  const alive = new Set(pods.filter((pod) => !isOver(pod)).map(({ uid }) => uid));
  const shown = [...(await daemon.pods()).values()].map(({ metadata }) => metadata?.uid ?? '');
  const folder = (path: string) => readdir(join(daemon.rootDir, path)).catch(() => []);
  const folders = new Set(await folder('pods'));
  const logs = (await readdir(daemon.podLogsDir)).map((name) => name.split('_').at(-1) ?? '');
  const facts = [...(await folder('statelet/facts')), ...(await folder('statelet/pods'))];
  const links = await Promise.all(
    (await readdir(daemon.containerLogsDir)).map(async (name) =>
      (await stat(join(daemon.containerLogsDir, name)).catch(() => undefined))
        ? []
        : [`the link ${name} leads nowhere`],
    ),
  );
  const ofPods = (await cgroups?.pods())?.map((path) => /\/pod([^/]+)/.exec(path)?.[1] ?? path) ?? [];
  const none = new Set<string>();
  return [
    ...compare('the agent', all, new Set(shown)),
    ...compare('the folder of pods', alive, folders, all),
    ...compare('the folder of logs', none, new Set(logs), all),
    ...compare('what is kept', none, new Set(facts.map((name) => name.replace(/\..*$/, ''))), all),
    ...compare('the cgroups', cgroups ? alive : none, new Set(ofPods), all),
    ...links.flat(),
  ];
}
