import type { MountPoint } from '../mounts.ts';

/** The cgroup trees of the node. */
export interface Hierarchies {
  version: 1 | 2;
  /** Trees that pod cgroups are made in: on v1 one for each mounted controller set, on v2 the one there is. */
  trees: Tree[];
  /** Every tree, also those that only runtimes put something in: leftovers are looked for there. */
  all: string[];
}

export interface Tree {
  path: string;
  /** Of v1; on v2 the tree itself tells. */
  controllers: string[];
}

/** Controllers whose trees get pod cgroups on v1; others of the superblock's options are flags. */
const CONTROLLERS = new Set(
  'cpu cpuacct cpuset memory devices freezer blkio pids hugetlb net_cls net_prio perf_event rdma misc'.split(' '),
);

/**
 * The node's cgroup trees from its mounts: v2 where /sys/fs/cgroup itself is one, else v1 (with a v2 tree beside it,
 * "hybrid", which carries no controllers).
 */
export function findHierarchies(mounts: readonly MountPoint[]): Hierarchies {
  // A controller set that is mounted twice is one tree.
  const unique = [...new Map(mounts.map((mount) => [mount.path, mount])).values()];
  const unified = unique.filter(({ fsType }) => fsType === 'cgroup2').map(({ path }) => path);
  const v1 = unique.filter(({ fsType }) => fsType === 'cgroup');
  if (v1.length === 0)
    return { version: 2, trees: unified.slice(0, 1).map((path) => ({ path, controllers: [] })), all: unified };
  const trees = v1
    .map(({ path, superOptions }) => ({
      path,
      controllers: superOptions.filter((option) => CONTROLLERS.has(option)),
      named: superOptions.includes('name=systemd'),
    }))
    .filter(({ controllers, named }) => controllers.length > 0 || named);
  return {
    version: 1,
    trees: trees.map(({ path, controllers }) => ({ path, controllers })),
    all: [...v1.map(({ path }) => path), ...unified],
  };
}
