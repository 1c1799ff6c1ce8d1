import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { errno } from './errors.ts';

/** Bytes and inodes below a directory, as `du` counts them; what vanishes meanwhile is not counted. */
export async function diskUsage(directory: string): Promise<{ bytes: bigint; inodes: bigint }> {
  const total = { bytes: 0n, inodes: 0n };
  let names: string[] = [];
  try {
    names = await readdir(directory, { recursive: true });
  } catch (error) {
    if (errno(error) !== 'ENOENT') throw error;
  }
  for (const name of names) {
    const stat = await lstat(join(directory, name)).catch(() => undefined);
    if (stat === undefined) continue;
    total.bytes += BigInt(stat.blocks) * 512n;
    total.inodes += 1n;
  }
  return total;
}
