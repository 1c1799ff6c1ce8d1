import type { Cri } from '../client.ts';
import { isUnimplemented } from '../errors.ts';
import { CgroupDriver } from '../proto/generated/cri.ts';

/**
 * RuntimeConfig: the runtime's cgroup driver, which wins over the configured one; `undefined` where the runtime does not
 * say (server.go:getCgroupDriverFromCRI).
 */
export async function runtimeCgroupDriver(cri: Cri, signal?: AbortSignal): Promise<'cgroupfs' | 'systemd' | undefined> {
  try {
    const { linux } = await cri.call('runtimeConfig', {}, { deadlineMs: cri.runtimeRequestTimeoutMs, signal });
    if (linux === undefined) return undefined;
    return linux.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs';
  } catch (error) {
    if (isUnimplemented(error)) return undefined;
    throw error;
  }
}
