import type { DesiredPod, PodStatus } from '../../kubernetes.types.ts';
import { CONFIG_HASH_ANNOTATION } from '../../pod/policy/names.ts';
import type { PodEntry, SourceName } from '../syncloop.types.ts';

/** Statuses of mirror pods by config.hash. */
export type Mirrors = Readonly<Record<string, PodStatus>>;

/** What the mirror pod of this very static pod said, when the API was first heard. */
export function mirroredOf(
  mirrors: Mirrors,
  { pod, source, again = false }: { pod: DesiredPod; source?: SourceName; again?: boolean },
): PodStatus | undefined {
  return again || source === 'api' ? undefined : mirrors[pod.metadata.annotations?.[CONFIG_HASH_ANNOTATION] ?? ''];
}

/** Static pods that began before the API was heard, with what it says of them. */
export function goingOn(
  mirrors: Mirrors,
  entries: Readonly<Record<string, PodEntry>>,
): { uid: string; pod: DesiredPod; mirrored: PodStatus }[] {
  if (Object.keys(mirrors).length === 0) return [];
  return Object.values(entries).flatMap(({ uid, pod, source, ending, released }) => {
    const mirrored = pod && !ending && !released ? mirroredOf(mirrors, { pod, source }) : undefined;
    return pod && mirrored ? [{ uid, pod, mirrored }] : [];
  });
}

/**
 * What has not come to its static pod yet. Once every source has delivered, only those count that still wait to begin: a
 * pod that comes later begins anew.
 */
export function stillMirrored(
  { mirrors, desired }: { mirrors: Mirrors; desired: Readonly<Partial<Record<SourceName, DesiredPod[]>>> },
  entries: Readonly<Record<string, PodEntry>>,
  sourcesReady: boolean,
): Mirrors {
  if (Object.keys(mirrors).length === 0) return mirrors;
  const hashOf = (pod: DesiredPod | undefined) => pod?.metadata.annotations?.[CONFIG_HASH_ANNOTATION] ?? '';
  const begun = new Set(Object.values(entries).map(({ pod }) => hashOf(pod)));
  const wanted = new Set(
    Object.values(desired)
      .flat()
      .map((pod) => hashOf(pod)),
  );
  const isDue = ([hash]: [string, PodStatus]) => !begun.has(hash) && (!sourcesReady || wanted.has(hash));
  return Object.fromEntries(Object.entries(mirrors).filter(isDue));
}
