import type { CgroupSettings } from '../host/host.types.ts';
import type { Cri } from './client.ts';
import { runtimeCgroupDriver } from './verbs/runtime-config.ts';

/** Longest wait for the runtime's word at start, ms; a runtime that is away says nothing. */
const WAIT_MS = 3_000;

/**
 * The cgroup driver of the runtime, which wins over the configured one; the configured one where the runtime cannot say
 * (containerd before 2.0) or does not answer yet (cmd/kubelet/app/server.go:getCgroupDriverFromCRI).
 *
 * @param warn told where the two differ or the runtime could not be asked
 */
export async function cgroupDriverOf(
  cri: Cri,
  configured: CgroupSettings['driver'],
  warn: (message: string) => void,
): Promise<CgroupSettings['driver']> {
  try {
    const theirs = await runtimeCgroupDriver(cri, AbortSignal.timeout(WAIT_MS));
    if (theirs && theirs !== configured)
      warn(`cgroupDriver: ${configured} is overruled by the runtime, which uses ${theirs}`);
    return theirs ?? configured;
  } catch (error) {
    const { message } = error as Error;
    warn(`the runtime could not be asked for its cgroup driver, ${configured} is used: ${message}`);
    return configured;
  }
}
