import type { KubeletConfiguration } from './data/kubelet-configuration.types.ts';
import { originOf, shownOrigin, type Origins } from './merge.ts';

/** Fields that act on a part of what they are for. */
const PARTS: ReadonlyMap<string, string> = new Map([
  ['evictionHard', "the node's allocatable resources only; nothing is evicted yet"],
  ['syncFrequency', 'volumes of ConfigMaps and Secrets where no watch tells of changes'],
]);

/** What of a field acts, where it is not the whole; undefined elsewhere. */
export function partThatActs(path: string): string | undefined {
  return PARTS.get(path);
}

/** One line each for what was set and acts in part, and for what `statelet run` will refuse once it is under way. */
export function caveats(config: KubeletConfiguration, origins: Origins): string[] {
  const lines: string[] = [];
  for (const [path, part] of PARTS) {
    const origin = originOf(origins, path);
    if (origin !== 'default') lines.push(`${shownOrigin(origin)}: ${path}: acts on ${part}`);
  }
  // checkCgroups of services/host refuses it; a runtime that names another driver is believed over the configuration.
  if (config.cgroupsPerQOS && config.cgroupDriver === 'systemd')
    lines.push(
      `${shownOrigin(originOf(origins, 'cgroupDriver'))}: cgroupDriver: "systemd" is not supported yet: ` +
        '`statelet run` refuses it, unless the runtime says that it uses cgroupfs; accepted are cgroupfs, or cgroupsPerQOS: false',
    );
  return lines;
}
