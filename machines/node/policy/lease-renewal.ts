import type { Lease } from '../../kubernetes.types.ts';

const NAMESPACE = 'kube-node-lease';
/** kubelet.go:nodeLeaseRenewIntervalFraction. */
const RENEW_FRACTION = 0.25;
/** component-helpers/apimachinery/lease/controller.go:Run. */
const JITTER = 0.04;
const FIRST_RETRY = 100;
const MAX_RETRY = 7000;

interface Holder {
  nodeName: string;
  nodeUid: string;
  durationSeconds: number;
}

/**
 * The lease, held by this node from `now` on: a new one, or an old one taken over, whoever held it. The Node owns it, so
 * that none outlives its Node; an owner that is another Node of the same name is replaced.
 *
 * @param now wall clock, ms since the epoch
 */
export function heldLease({ nodeName, nodeUid, durationSeconds }: Holder, old: Lease | undefined, now: number): Lease {
  const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid };
  const others = (old?.metadata?.ownerReferences ?? []).filter(({ kind }) => kind !== 'Node');
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...old?.metadata, name: nodeName, namespace: NAMESPACE, ownerReferences: [...others, owner] },
    spec: {
      ...old?.spec,
      holderIdentity: nodeName,
      leaseDurationSeconds: durationSeconds,
      renewTime: microTime(now),
    },
  };
}

/** A moment as metav1.MicroTime has it: `2026-01-01T00:00:00.123000Z`. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

/** Wait until the next renewal, ms. @param random uniform in [0, 1) */
export function renewalDelay(durationSeconds: number, random: number): number {
  return durationSeconds * 1000 * RENEW_FRACTION * (1 + JITTER * random);
}

/** Wait before the next try, ms: 100 doubling to 7000 (constants.tsv), up to a fifth longer so that nodes spread. */
export function heartbeatRetryDelay(failures: number, random: number): number {
  return Math.min(MAX_RETRY, FIRST_RETRY * 2 ** Math.min(Math.max(failures - 1, 0), 10)) * (1 + random / 5);
}
