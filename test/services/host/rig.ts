import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { createPodHost } from '../../../services/host/index.ts';
import type { CgroupSettings, HostPaths } from '../../../services/host/host.types.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

export const NEVER = new AbortController().signal;
/** For what only root may do. */
export const isRoot = process.getuid?.() === 0;

export async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'statelet-host-'));
  folders.push(folder);
  return folder;
}

export const cgroupsOff: CgroupSettings = {
  perQos: false,
  root: '/',
  driver: 'cgroupfs',
  cpuCFSQuota: true,
  cpuCFSQuotaPeriod: 100_000,
  podPidsLimit: -1,
};

/** A host in a folder of its own, and what it warned of. */
export async function rig(cgroup: Partial<CgroupSettings> = {}) {
  const folder = await temporary();
  const paths: HostPaths = {
    rootDir: join(folder, 'root'),
    podLogsDir: join(folder, 'logs'),
    containerLogsDir: join(folder, 'links'),
  };
  const warnings: string[] = [];
  const logger = { warn: (_fields: object, message: string) => void warnings.push(message) };
  const host = createPodHost({ paths, cgroup: { ...cgroupsOff, ...cgroup }, logger });
  return { folder, paths: paths as Required<HostPaths>, host, warnings, logger };
}
