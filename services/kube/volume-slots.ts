import { fromCallback, fromPromise } from 'xstate';
import type { DesiredPod, Volume } from '../../machines/kubernetes.types.ts';
import { volumeReferences } from '../../machines/pod/policy/object-references.ts';
import { hasContent, volumeFiles, type VolumeFile } from '../../machines/pod/policy/volume-content.ts';
import type { FollowObjectsInput, ObjectChanged } from '../../machines/pod/pod.types.ts';
import type { VolumeSlots } from '../../machines/pod/volume.types.ts';
import type { WatchSlot } from '../../machines/slot.types.ts';
import type { PodHost } from '../host/host.types.ts';
import { mountError } from '../host/volumes/index.ts';
import type { ConfigObjects } from './objects/objects.types.ts';
import type { Tokens } from './tokens.ts';

export interface VolumeSources {
  host: Pick<PodHost, 'mountVolume'>;
  /** The Node's, by resource name. */
  allocatable: Readonly<Record<string, string>>;
  /** Undefined without an API server: no pod may refer to its objects then. */
  objects: Pick<ConfigObjects, 'read'> | undefined;
  tokens: Pick<Tokens, 'get'> | undefined;
}

/** The effect of a volume: what it shows is had from the API and from its pod, and written by the host. */
export function volumeSlots(sources: VolumeSources): VolumeSlots {
  return {
    mountVolume: fromPromise(async ({ input: { pod, volume }, signal }) => {
      const { files, refreshAfterMs } = hasContent(volume)
        ? await contentOf(sources, pod, volume, signal)
        : { files: [], refreshAfterMs: undefined };
      await sources.host.mountVolume(pod, volume, files, signal);
      return refreshAfterMs === undefined ? {} : { refreshAfterMs };
    }),
  };
}

async function contentOf(
  { objects, tokens, allocatable }: VolumeSources,
  pod: DesiredPod,
  volume: Volume,
  signal: AbortSignal,
): Promise<{ files: VolumeFile[]; refreshAfterMs: number | undefined }> {
  try {
    const found = await objects?.read(pod.metadata.namespace, volumeReferences(volume), signal);
    const issued = await Promise.all(
      (volume.projected?.sources ?? []).map(async ({ serviceAccountToken }) =>
        serviceAccountToken ? await tokens?.get(pod, serviceAccountToken, signal) : undefined,
      ),
    );
    const files = volumeFiles(volume, {
      pod,
      allocatable,
      objects: found ?? (() => undefined),
      tokens: Object.fromEntries(issued.flatMap((one, index) => (one ? [[index, one.token]] : []))),
    });
    const dues = issued.flatMap((one) => (one ? [one.refreshAfterMs] : []));
    return { files, refreshAfterMs: dues.length ? Math.min(...dues) : undefined };
  } catch (error) {
    throw mountError(volume.name, error);
  }
}

/** Keeps what a pod refers to current, and tells of each change of it. */
export function followObjects(objects: Pick<ConfigObjects, 'follow'> | undefined): WatchSlot<FollowObjectsInput> {
  return fromCallback(({ input: { pod }, sendBack }) =>
    objects?.follow(pod, (reference) => sendBack({ type: 'object.changed', reference } satisfies ObjectChanged)),
  );
}
