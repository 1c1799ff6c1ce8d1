import { fromPromise } from 'xstate';
import type { HostFacts, NodeSlots, RuntimeFacts } from '../../machines/node/node.types.ts';
import type { Cri } from './client.ts';
import { listImages } from './verbs/list-images.ts';
import { status } from './verbs/status.ts';
import { version } from './verbs/version.ts';

/** What the Node object says of the runtime. @throws AgentError where it does not answer */
async function runtimeFacts(cri: Cri, { images }: { images: boolean }, signal?: AbortSignal): Promise<RuntimeFacts> {
  const [{ runtimeName, runtimeVersion }, { runtimeHandlers, features }, listed] = await Promise.all([
    version(cri, signal),
    status(cri, signal),
    images ? listImages(cri, signal) : undefined,
  ]);
  return {
    name: runtimeName,
    version: runtimeVersion,
    handlers: runtimeHandlers.map(({ name, features: can }) => ({
      name,
      recursiveReadOnlyMounts: can?.recursiveReadOnlyMounts ?? false,
      userNamespaces: can?.userNamespaces ?? false,
    })),
    ...(features && { supplementalGroupsPolicy: features.supplementalGroupsPolicy }),
    ...(listed && {
      images: listed.map(({ repoDigests, repoTags, size }) => ({
        names: [...repoDigests, ...repoTags],
        sizeBytes: Number(size),
      })),
    }),
  };
}

/** The reading of node and nodeStatus: what the runtime does not answer is left out, that of the host has to be there. */
export function nodeFactSlots(
  cri: Cri,
  readHost: (signal: AbortSignal) => Promise<HostFacts>,
): Pick<NodeSlots, 'readNodeFacts'> {
  return {
    readNodeFacts: fromPromise(async ({ input, signal }) => {
      const [host, runtime] = await Promise.all([
        readHost(signal),
        // runtimeHealth tells of a runtime that is away; here it only means that nothing new is known of it.
        runtimeFacts(cri, input, signal).catch(() => undefined),
      ]);
      return { host, runtime };
    }),
  };
}
