import { availableParallelism } from 'node:os';
import { AgentError } from '../../../machines/agent-error.types.ts';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import { qosClass } from '../../../machines/pod/policy/qos.ts';
import { podResources } from '../../../machines/pod/policy/resources.ts';
import { component } from '../directories.ts';
import { errno } from '../effect.ts';
import type { CgroupSettings } from '../host.types.ts';
import { readMounts } from '../mounts.ts';
import { findHierarchies, type Hierarchies } from './hierarchies.ts';
import { cgroupfsPath, podCgroup, QOS_CLASSES, qosCgroup, systemdPath } from './names.ts';
import { burstableShares } from './qos-shares.ts';
import { childCgroups, handDownCpus, limitCgroup, makeCgroup, removeCgroup } from './tree.ts';

/** cgroup_parent of a pod's sandbox in the driver's form; undefined where cgroupsPerQOS is off. */
export function podCgroupParent(settings: CgroupSettings, pod: DesiredPod): string | undefined {
  if (!settings.perQos) return undefined;
  const components = podCgroup(qosClass(pod.spec), component(pod.metadata.uid, 'pod UID'));
  return settings.driver === 'systemd'
    ? systemdPath(settings.root, components)
    : cgroupfsPath(settings.root, components);
}

/** What to do where the kernel does not let the agent make cgroups, by what it says. */
const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: 'run the agent as root',
  EPERM: 'run the agent as root',
  EROFS: 'the cgroup file systems are mounted read-only: mount them writable',
};

/** The cgroups of pods; with cgroupsPerQOS off there are none and every call is done at once. */
export interface PodCgroups {
  ensure(pod: DesiredPod): Promise<void>;
  /** Looks in every QoS class, as the class of a pod that is gone is unknown. Answers whether there was one. */
  remove(uid: string, leftovers?: 'keep' | 'kill'): Promise<boolean>;
  /** UIDs of the pods that have a cgroup. */
  list(): Promise<string[]>;
  /** Makes the QoS cgroups. @throws AgentError that tells what to change where the agent may not */
  check(): Promise<void>;
}

/** @throws AgentError for the systemd driver, whose slices are made over D-Bus: not supported yet */
export function createPodCgroups(settings: CgroupSettings): PodCgroups {
  if (!settings.perQos)
    return {
      ensure: async () => undefined,
      remove: async () => false,
      list: async () => [],
      check: async () => undefined,
    };
  if (settings.driver === 'systemd')
    throw new AgentError({
      op: 'set up cgroups',
      reason: 'UnsupportedCgroupDriver',
      message: 'cgroupDriver: "systemd" is not supported yet: accepted are "cgroupfs", or cgroupsPerQOS: false',
      transient: false,
    });

  let opened: Promise<Opened> | undefined;
  const open = () => {
    opened ??= openHierarchies(settings);
    // A failure is not kept: the next call looks again.
    opened.catch(() => (opened = undefined));
    return opened;
  };

  return {
    async ensure(pod) {
      const { hierarchies, burstable, qosParents } = await open();
      const qos = qosClass(pod.spec);
      const name = component(pod.metadata.uid, 'pod UID');
      const path = cgroupfsPath(settings.root, podCgroup(qos, name));
      const { cpuCFSQuota, cpuCFSQuotaPeriod: cpuCFSQuotaPeriodUs, podPidsLimit } = settings;
      const resources = podResources(pod.spec, { cpuCFSQuota, cpuCFSQuotaPeriodUs });
      await qosParents();
      await makeCgroup(hierarchies, path);
      await limitCgroup(hierarchies, path, { ...resources, ...(podPidsLimit > 0 ? { pids: podPidsLimit } : {}) });
      if (qos === 'Burstable') await burstable(`pod${name}`, resources.cpuShares);
    },
    async remove(uid, leftovers) {
      const { hierarchies, burstable } = await open();
      let removed = false;
      for (const qos of QOS_CLASSES) {
        const path = cgroupfsPath(settings.root, podCgroup(qos, component(uid, 'pod UID')));
        if (!(await removeCgroup(hierarchies, path, leftovers))) continue;
        removed = true;
        if (qos === 'Burstable') await burstable(`pod${uid}`, undefined);
      }
      return removed;
    },
    async list() {
      const { hierarchies } = await open();
      const names = await Promise.all(
        QOS_CLASSES.map((qos) => childCgroups(hierarchies, cgroupfsPath(settings.root, qosCgroup(qos)))),
      );
      return names.flat().flatMap((name) => /^pod(.+)$/.exec(name)?.[1] ?? []);
    },
    async check() {
      try {
        await (await open()).qosParents();
      } catch (error) {
        throw new AgentError({
          op: 'set up cgroups',
          reason: errno(error) ?? 'Unexpected',
          message:
            `cgroups below ${cgroupfsPath(settings.root, ['kubepods'])} cannot be made ` +
            `(${error instanceof AgentError ? error.message : (errno(error) ?? String(error))}): ` +
            `${REMEDIES[errno(error) ?? ''] ?? 'see that the agent can make them'}, or set cgroupsPerQOS: false`,
          transient: false,
          cause: error,
        });
      }
    },
  };
}

interface Opened {
  hierarchies: Hierarchies;
  burstable: ReturnType<typeof burstableShares>;
  /** kubepods, burstable and besteffort with their shares; made once, as the pods' cgroups keep them in being. */
  qosParents(): Promise<void>;
}

async function openHierarchies(settings: CgroupSettings): Promise<Opened> {
  const hierarchies = findHierarchies(await readMounts());
  if (hierarchies.trees.length === 0)
    throw new AgentError({
      op: 'set up cgroups',
      reason: 'NoCgroups',
      message: 'no cgroup file system is mounted',
      transient: false,
    });
  const path = (qos: (typeof QOS_CLASSES)[number]) => cgroupfsPath(settings.root, qosCgroup(qos));
  const burstable = burstableShares(hierarchies, path('Burstable'), (cpuShares) =>
    limitCgroup(hierarchies, path('Burstable'), { cpuShares }),
  );
  let parents: Promise<void> | undefined;
  const make = async () => {
    for (const qos of QOS_CLASSES) {
      await makeCgroup(hierarchies, path(qos));
      await handDownCpus(hierarchies, path(qos));
    }
    await limitCgroup(hierarchies, path('Guaranteed'), { cpuShares: BigInt(availableParallelism()) * 1024n });
    await limitCgroup(hierarchies, path('BestEffort'), { cpuShares: 2n });
  };
  const qosParents = () => {
    parents ??= make();
    parents.catch(() => (parents = undefined));
    return parents;
  };
  return { hierarchies, burstable, qosParents };
}

/** Whether the node's controllers are in the one tree of cgroup v2; false on v1 and hybrid nodes. */
export async function isCgroupV2(): Promise<boolean> {
  return findHierarchies(await readMounts()).version === 2;
}
