import type { AgentEnv, ParentRef } from '../agent.types.ts';
import type { PodRef } from '../pod/pod.types.ts';
import type { ObservedPod, RuntimeEvent } from '../runtime.types.ts';
import type { PlegSettings } from './syncloop.types.ts';

export interface PlegInput {
  env: AgentEnv;
  parent: ParentRef;
  settings: PlegSettings;
}

export interface InspectionInput {
  parent: ParentRef;
  pod: PodRef;
  /** What made this inspection necessary; it looks again until the runtime shows what they tell of. */
  events: RuntimeEvent[];
}

/** pleg → inspection: something more happened, look (again) after what you are doing now. */
export interface InspectionAgain {
  type: 'inspection.again';
  events: RuntimeEvent[];
}

/** inspection → pleg. */
export type InspectionReport =
  | { type: 'inspection.observed'; pod: ObservedPod }
  /** `failures`: looks that failed in a row, this one included. It is tried again by itself. */
  | { type: 'inspection.failed'; uid: string; message: string; failures: number }
  /** The runtime has not answered for long: nobody should wait for this pod. `failures` as if this look had failed. */
  | { type: 'inspection.slow'; uid: string; message: string; failures: number };
