import type { Pod } from '../../machines/kubernetes.types.ts';

/** Annotation of a mirror pod: the hash of its static pod. Spelt out here, as the tests judge by it what the agent writes. */
export const MIRROR = 'kubernetes.io/config.mirror';

export const isMirror = ({ metadata }: Pick<Pod, 'metadata'>) => metadata?.annotations?.[MIRROR] !== undefined;
