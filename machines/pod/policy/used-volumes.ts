import type { DesiredPod, Volume } from '../../kubernetes.types.ts';
import type { ObjectReference } from '../objects.types.ts';
import { volumeReferences } from './object-references.ts';
import { allContainers } from './all-containers.ts';

/** The volumes that a container uses: they alone are mounted (volumemanager/volume_manager.go:getExpectedVolumes). */
export function usedVolumes({ spec }: DesiredPod): Volume[] {
  const containers = allContainers(spec);
  const used = new Set(containers.flatMap(({ volumeMounts }) => (volumeMounts ?? []).map(({ name }) => name)));
  return (spec.volumes ?? []).filter(({ name }) => used.has(name));
}

/** Names of the volumes that show the object. */
export function volumesShowing(pod: DesiredPod, { kind, name }: ObjectReference): string[] {
  return usedVolumes(pod)
    .filter((volume) =>
      volumeReferences(volume).some((reference) => reference.kind === kind && reference.name === name),
    )
    .map((volume) => volume.name);
}
