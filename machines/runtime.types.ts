/**
 * The runtime as the agent sees it. Built from CRI answers by services/cri/observe.ts and by nothing else.
 * Times are milliseconds since the epoch. `at` is when the call that saw the object *began*: an older sighting
 * never replaces a newer one (ARCHITECTURE rule 6).
 */

export interface ObservedSandbox {
  id: string;
  attempt: number;
  state: 'ready' | 'notReady';
  createdAt: number;
  /** `node` for hostNetwork. */
  network: 'pod' | 'node';
  /** Pod IPs, primary first; empty for hostNetwork and for a sandbox that is not ready. */
  ips: string[];
  /** `kubernetes.io/config.source` annotation: where the pod came from. */
  source?: string;
  at: number;
}

export interface ObservedContainer {
  id: string;
  sandboxId: string;
  name: string;
  /** CRI attempt, which is the restart count at creation. */
  attempt: number;
  state: 'created' | 'running' | 'exited' | 'unknown';
  createdAt: number;
  startedAt?: number;
  finishedAt?: number;
  exitCode?: number;
  /** The runtime's reason: Completed, Error, OOMKilled, StartError … */
  reason?: string;
  /** Termination message (file or log tail, cut to its limits) or the runtime's own message. */
  message?: string;
  /** Image as the runtime names it, and its digest reference. */
  image: string;
  imageId: string;
  /** `io.kubernetes.container.hash` annotation; empty where another program made the container. */
  hash: string;
  /** `io.kubernetes.container.restartCount` annotation. */
  restartCount: number;
  logPath: string;
  /** Grace kept in annotations for pods whose object is gone: deletion grace, else termination grace. */
  gracePeriodSeconds?: number;
  at: number;
}

/** Everything the runtime has of one pod. Both lists are newest first: by attempt, then createdAt. */
export interface ObservedPod {
  uid: string;
  name: string;
  namespace: string;
  sandboxes: ObservedSandbox[];
  containers: ObservedContainer[];
  /** When the listing behind this view began. */
  at: number;
  /** Containers that an own call found gone, by id, and when: a listing that began earlier may still show them. */
  gone?: Record<string, number>;
}

/** One answer of the whole runtime, cheap (two calls): what exists and in which state, without the details. */
export interface RuntimeListing {
  at: number;
  pods: ListedPod[];
}

export interface ListedPod {
  uid: string;
  name: string;
  namespace: string;
  sandboxes: { id: string; state: ObservedSandbox['state'] }[];
  containers: { id: string; state: ObservedContainer['state'] }[];
}

/** A change that the runtime's event stream told of. `podUid` is unknown where the stream does not carry it. */
export interface RuntimeEvent {
  kind: 'created' | 'started' | 'stopped' | 'deleted' | 'oom';
  containerId: string;
  podUid?: string;
  at: number;
  /** How a container ended, where the stream says so; it may say so before the runtime's own records do. */
  exit?: { exitCode: number; finishedAt: number };
}

/** What the answer of an own call has shown of a pod: the objects that it was about, and those that it found gone. */
export interface RuntimeEcho {
  pod: { uid: string; name: string; namespace: string };
  sandboxes?: ListedPod['sandboxes'];
  containers?: ListedPod['containers'];
  gone?: string[];
  /** When the look began. */
  at: number;
}
