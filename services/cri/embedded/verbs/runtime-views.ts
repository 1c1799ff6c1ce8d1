import { CgroupDriver, RuntimeHandler } from '../../proto/generated/cri.ts';
import { verboseInfo } from './verb.ts';
import type { Verb } from './verb.ts';

/** The agent-side API version that every CRI v1 runtime answers with. */
const AGENT_API_VERSION = '0.1.0';
const RUNTIME_VERSION = '0.1.0';

export const version: Verb<'Version'> = () => ({
  version: AGENT_API_VERSION,
  runtimeName: 'statelet-embedded',
  runtimeVersion: RUNTIME_VERSION,
  runtimeApiVersion: 'v1',
});

/** Always ready; make it otherwise with a fault, or stop the server. */
export const runtimeStatus: Verb<'Status'> = (runtime, request) => ({
  status: {
    conditions: ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true, reason: '', message: '' })),
  },
  info: verboseInfo(request.verbose, { stateDir: runtime.stateDir }),
  runtimeHandlers: [
    RuntimeHandler.fromPartial({ name: '', features: { recursiveReadOnlyMounts: false, userNamespaces: false } }),
  ],
  features: { supplementalGroupsPolicy: false, userNamespacesHostNetwork: false, mountOptions: false },
});

/** Pods of this runtime are on the host's network: their addresses are nobody's to give. */
export const updateRuntimeConfig: Verb<'UpdateRuntimeConfig'> = () => ({});

/** The driver is named because the protocol asks for one: no cgroup is made here. */
export const runtimeConfig: Verb<'RuntimeConfig'> = () => ({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } });
