import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../effect.ts';
import type { Hierarchies } from './hierarchies.ts';
import { cpuShares } from './limits.ts';
import { childCgroups } from './tree.ts';

/**
 * CPU shares of the burstable cgroup: the sum of its pods' (cm/qos_container_manager_linux.go:setCPUCgroupConfig).
 * What was there before the agent is read once from the pods' cgroups.
 */
export function burstableShares(hierarchies: Hierarchies, path: string, write: (shares: bigint) => Promise<void>) {
  const pods = new Map<string, bigint>();
  let turn: Promise<void> | undefined;

  async function load(): Promise<void> {
    const names = (await childCgroups(hierarchies, path)).filter((name) => name.startsWith('pod'));
    for (const name of names) pods.set(name, await readShares(hierarchies, join(path, name)));
  }

  /** Notes a pod's shares, or with undefined that it is gone, and writes the sum; one at a time, so the last one stays. */
  function update(name: string, shares: bigint | undefined): Promise<void> {
    const before = turn ?? load();
    const now = before.then(async () => {
      if (pods.get(name) === shares) return;
      if (shares === undefined) pods.delete(name);
      else pods.set(name, shares);
      const sum = [...pods.values()].reduce((total, each) => total + each, 0n);
      await write(sum < 2n ? 2n : sum > 262_144n ? 262_144n : sum);
    });
    // One pod's failure is its own; the next one writes the sum anew.
    turn = now.catch(() => void pods.delete(name));
    return now;
  }
  return update;
}

async function readShares({ version, trees }: Hierarchies, path: string): Promise<bigint> {
  const tree = version === 2 ? trees[0] : trees.find(({ controllers }) => controllers.includes('cpu'));
  const file = version === 2 ? 'cpu.weight' : 'cpu.shares';
  const text = tree && (await ifThere(readFile(join(tree.path, path, file), 'utf8')));
  if (text === undefined) return 2n;
  return version === 2 ? cpuShares(BigInt(text.trim())) : BigInt(text.trim());
}
