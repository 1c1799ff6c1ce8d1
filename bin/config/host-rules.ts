import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { LoadedConfig } from './load-config.ts';
import { originOf, shownOrigin } from './merge.ts';
import { shown, type Problem } from './problem.ts';
import { isNodeName, NODE_NAME } from './rules/node.ts';

/** What the configuration is held against on the node itself. */
export interface HostView {
  cgroupVersion: 1 | 2;
  /** /proc/swaps lists anything. */
  swapOn: boolean;
  hostName: string;
}

const CGROUP2_MAGIC = 0x63677270;

/** Reads it from /sys/fs/cgroup and /proc/swaps; once, at start. */
export function readHostView(): HostView {
  return {
    cgroupVersion: statfsSync('/sys/fs/cgroup').type === CGROUP2_MAGIC ? 2 : 1,
    // A kernel without swap has no such file.
    swapOn: existsSync('/proc/swaps') && readFileSync('/proc/swaps', 'utf8').trim().split('\n').length > 1,
    hostName: hostname().trim().toLowerCase(),
  };
}

/** Values that this host does not allow: validation_linux.go, pkg/kubelet/cm/container_manager_linux.go. */
export function hostProblems({ config, flags, origins, quickstart }: LoadedConfig, host: HostView): Problem[] {
  const problems: Problem[] = [];
  const fail = (path: string, message: string) =>
    problems.push({ origin: shownOrigin(originOf(origins, path)), path, message });
  if (host.cgroupVersion === 1) {
    if (config.failCgroupV1)
      fail(
        'failCgroupV1',
        'this host uses cgroup v1: accepted is a host with cgroup v2, or failCgroupV1: false (--fail-cgroupv1=false)',
      );
    if (config.singleProcessOOMKill === false)
      fail('singleProcessOOMKill', 'false is not accepted on a host with cgroup v1: accepted is true, or leave it out');
    if (config.memorySwap.swapBehavior === 'LimitedSwap')
      fail('memorySwap.swapBehavior', 'LimitedSwap is not accepted on a host with cgroup v1: accepted is NoSwap');
  }
  if (config.failSwapOn && host.swapOn)
    fail(
      'failSwapOn',
      'this host has swap switched on: accepted is swap off, or failSwapOn: false (--fail-swap-on=false)',
    );
  if (!flags.hostnameOverride && !quickstart && !isNodeName(host.hostName))
    problems.push({
      origin: '--hostname-override',
      path: '',
      message: `is not given, and this host's name ${shown(host.hostName)} is not a node name: ${NODE_NAME}`,
    });
  return problems;
}
