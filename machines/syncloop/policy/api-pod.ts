import type { Pod } from '../../kubernetes.types.ts';
import type { ApiPod } from '../api-source.types.ts';

export const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** What the writer of its status needs of a pod's object as the API has answered it. */
export function asApiPod({ metadata = {}, status }: Pod): ApiPod {
  const { uid = '', name = '', namespace = '', resourceVersion = '', deletionTimestamp, annotations } = metadata;
  const mirrorHash = annotations?.[CONFIG_MIRROR_ANNOTATION];
  return {
    uid,
    name,
    namespace,
    resourceVersion,
    ...(status && { status }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(mirrorHash !== undefined && { mirrorHash }),
  };
}
