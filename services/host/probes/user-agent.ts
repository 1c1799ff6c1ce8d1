/** `kube-probe/<major>.<minor>` of the Kubernetes version that the agent reports; servers log and filter by it. */
export const USER_AGENT = 'kube-probe/1.36';
