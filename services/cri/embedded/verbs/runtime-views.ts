import { CgroupDriver, RuntimeHandler } from '../../proto/generated/cri.ts';
import { verboseInfo } from './verb.ts';
import type { Verb } from './verb.ts';

/** The version of CRI spoken here, and of this runtime. */
const API_VERSION = 'v1';
const RUNTIME_VERSION = '0.1.0';

export const version: Verb<'Version'> = () => ({
  version: '0.1.0',
  runtimeName: 'statelet-embedded',
  runtimeVersion: RUNTIME_VERSION,
  runtimeApiVersion: API_VERSION,
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

/** The driver is named because the protocol asks for one: no cgroup is made here. */
export const runtimeConfig: Verb<'RuntimeConfig'> = () => ({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } });
