import { fromPromise } from 'xstate';
import type { NodeStatusSlots } from '../../machines/node/node-status.types.ts';
import type { HostFacts, RuntimeFacts } from '../../machines/node/node.types.ts';
import type { Cri } from './client.ts';
import { listImages } from './verbs/list-images.ts';
import { status } from './verbs/status.ts';
import { updateRuntimeConfig } from './verbs/update-runtime-config.ts';
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

/** The effects of node and nodeStatus on host and runtime. In a reading, what the runtime does not answer is left out, that of the host has to be there. */
export function nodeFactSlots(
  cri: Cri,
  readHost: (signal: AbortSignal) => Promise<HostFacts>,
): Pick<NodeStatusSlots, 'readNodeFacts' | 'updateRuntimeConfig'> {
  return {
    updateRuntimeConfig: fromPromise(({ input, signal }) => updateRuntimeConfig(cri, input.podCIDR, signal)),
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
