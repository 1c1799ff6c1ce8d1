/** Paths of the API server for what the agent reads and writes. */
const segment = encodeURIComponent;

export const PODS = '/api/v1/pods';
export const NODES = '/api/v1/nodes';
export const podsPath = (namespace: string) => `/api/v1/namespaces/${segment(namespace)}/pods`;
export const podPath = (namespace: string, name: string) => `${podsPath(namespace)}/${segment(name)}`;
export const nodePath = (name: string) => `${NODES}/${segment(name)}`;
export const eventsPath = (namespace: string) => `/api/v1/namespaces/${segment(namespace)}/events`;
export const eventPath = (namespace: string, name: string) => `${eventsPath(namespace)}/${segment(name)}`;
export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const leasePath = (nodeName: string) => `${LEASES}/${segment(nodeName)}`;

/** @param plural `configmaps`, `secrets` */
export const objectsPath = (plural: string, namespace: string) => `/api/v1/namespaces/${segment(namespace)}/${plural}`;
export const tokenPath = (namespace: string, serviceAccount: string) =>
  `/api/v1/namespaces/${segment(namespace)}/serviceaccounts/${segment(serviceAccount)}/token`;

export const STRATEGIC_MERGE = 'application/strategic-merge-patch+json';
export const MERGE = 'application/merge-patch+json';
