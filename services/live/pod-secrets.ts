import { collectSecrets } from './secret-fields.ts';
import { Secrets } from './secrets.ts';

interface Holder {
  pod?: object;
  entries?: Readonly<Record<string, { pod?: object } | undefined>>;
  wanted?: { pod?: object };
}

/**
 * The secrets of all pods that the contexts hold: an error's message may have come from one actor to another. What was found
 * is used again as long as the pods are the same.
 */
export function podSecrets(): (contexts: readonly unknown[]) => Secrets {
  let known: ReadonlySet<object> = new Set();
  let secrets = new Secrets();
  return (contexts) => {
    const pods = new Set<object>();
    for (const context of contexts) {
      const { pod, entries, wanted } = (context ?? {}) as Holder;
      for (const found of [pod, wanted?.pod, ...Object.values(entries ?? {}).map((entry) => entry?.pod)])
        if (found) pods.add(found);
    }
    if (pods.size === known.size && pods.isSubsetOf(known)) return secrets;
    known = pods;
    secrets = new Secrets();
    for (const pod of pods) collectSecrets(pod, secrets);
    return secrets;
  };
}
