import { readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError } from '../../../machines/agent-error.types.ts';
import { errno, ifThere } from '../effect.ts';
import type { Hierarchies } from './hierarchies.ts';
import { settingsOf, type CgroupLimits } from './limits.ts';
import { makeDirectory } from '../make-directory.ts';

/** Controllers handed down on v2, those of them that the root offers (cm/cgroup_v2_manager_linux.go). */
const DELEGATED = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids'];

/** How often what is left in a cgroup is killed before it counts as busy, and how long that is given to take hold, ms. */
const KILLS = 5;
const KILL_SETTLE_MS = 50;

/** Makes a cgroup in every tree, parents included; done where it is there. */
export async function makeCgroup({ version, trees }: Hierarchies, path: string): Promise<void> {
  if (version === 2) return makeUnified(trees[0]?.path ?? '/sys/fs/cgroup', path);
  await Promise.all(trees.map((tree) => makeDirectory(join(tree.path, path))));
}

/**
 * Gives a cgroup CPUs and memory nodes, and has the kernel give the same to each that is made below it from now on: a v1
 * cpuset takes no process before it has some, and to write them into each costs a pod's start as much as the cgroup itself
 * (cgroup-v1/cpusets.rst, 1.6). v2 does so by itself.
 */
export async function handDownCpus({ version, trees }: Hierarchies, path: string): Promise<void> {
  const tree = version === 1 ? trees.find(({ controllers }) => controllers.includes('cpuset')) : undefined;
  if (!tree) return;
  await fillCpuset(tree.path, path);
  await writeFile(join(tree.path, path, 'cgroup.clone_children'), '1');
}

/** From its parent, where it has none of its own. */
async function fillCpuset(tree: string, path: string): Promise<void> {
  const fill = async (cgroup: string, file: string): Promise<string> => {
    const own = (await readFile(join(cgroup, file), 'utf8')).trim();
    if (own !== '' || cgroup === tree) return own;
    const inherited = await fill(dirname(cgroup), file);
    await writeFile(join(cgroup, file), inherited);
    return inherited;
  };
  await Promise.all(['cpuset.cpus', 'cpuset.mems'].map((file) => fill(join(tree, path), file)));
}

async function makeUnified(tree: string, path: string): Promise<void> {
  let own = tree;
  for (const name of path.split('/').filter(Boolean)) {
    const offered = (await readFile(join(own, 'cgroup.controllers'), 'utf8')).trim().split(' ');
    const wanted = DELEGATED.filter((controller) => offered.includes(controller));
    if (wanted.length > 0)
      await writeFile(join(own, 'cgroup.subtree_control'), wanted.map((controller) => `+${controller}`).join(' '));
    own = join(own, name);
    await makeDirectory(own);
  }
}

/** Writes limits; a controller that the node has not got limits nothing and is passed over. */
export async function limitCgroup({ version, trees }: Hierarchies, path: string, limits: CgroupLimits): Promise<void> {
  for (const { controller, file, value } of settingsOf(version, limits)) {
    const tree = version === 2 ? trees[0] : trees.find(({ controllers }) => controllers.includes(controller));
    if (tree) await ifThere(writeFile(join(tree.path, path, file), value, { flag: 'r+' }));
  }
}

/**
 * Removes a cgroup and what is below it, leaves first, in every tree. Answers whether there was one.
 *
 * @param leftovers processes in it that outlived its containers: kept, or ended by SIGKILL
 *   (cm/pod_container_manager_linux.go:tryKillingCgroupProcesses)
 * @throws AgentError EBUSY where it still has processes
 */
export async function removeCgroup(
  { all }: Hierarchies,
  path: string,
  leftovers: 'keep' | 'kill' = 'keep',
): Promise<boolean> {
  const removed = await Promise.all(all.map((tree) => removeTree(join(tree, path), leftovers === 'kill' ? KILLS : 0)));
  return removed.includes(true);
}

async function removeTree(path: string, kills: number): Promise<boolean> {
  const there = await removeEmpty(path);
  if (there !== 'busy') return there;
  const entries = (await ifThere(readdir(path, { withFileTypes: true }))) ?? [];
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(path, entry.name), kills);
  for (let killed = 0; (await removeEmpty(path)) === 'busy'; killed += 1) {
    if (killed === kills)
      throw new AgentError({
        op: 'remove pod cgroup',
        reason: 'EBUSY',
        message: `cgroup ${path} still has processes`,
        transient: true,
      });
    await killProcesses(path);
    await sleep(KILL_SETTLE_MS);
  }
  return true;
}

/** Whether it was there; busy: it has processes, or cgroups below it. */
async function removeEmpty(path: string): Promise<boolean | 'busy'> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    if (errno(error) === 'ENOENT') return false;
    if (errno(error) === 'EBUSY' || errno(error) === 'ENOTEMPTY') return 'busy';
    throw error;
  }
}

async function killProcesses(path: string): Promise<void> {
  const pids = ((await ifThere(readFile(join(path, 'cgroup.procs'), 'utf8'))) ?? '').split('\n').map(Number);
  // 0 stands for one that this process cannot see, and would mean its own group.
  for (const pid of pids.filter((each) => each > 0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (errno(error) !== 'ESRCH') throw error;
    }
  }
}

/** Names of the cgroups in a cgroup, over all trees. */
export async function childCgroups({ all }: Hierarchies, path: string): Promise<string[]> {
  const lists = await Promise.all(
    all.map(async (tree) => (await ifThere(readdir(join(tree, path), { withFileTypes: true }))) ?? []),
  );
  return [...new Set(lists.flatMap((list) => list.filter((entry) => entry.isDirectory()).map(({ name }) => name)))];
}
