import type { DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedContainer, ObservedPod } from '../../runtime.types.ts';
import type { PodPlan } from '../pod.types.ts';
import { succeeded } from './exit-success.ts';

/**
 * Whether the newest sandbox can be used, and if not, which number the next one gets
 * (kuberuntime/util/util.go:PodSandboxChanged).
 */
export function sandboxNeeded(pod: DesiredPod, observed: ObservedPod): Exclude<PodPlan['sandbox'], { do: 'none' }> {
  const [newest] = observed.sandboxes;
  if (!newest) return { do: 'create', attempt: 0, reason: 'no sandbox for the pod' };
  const create = (reason: string) => ({ do: 'create' as const, attempt: newest.attempt + 1, reason });
  if (newest.state !== 'ready') return create('the newest sandbox is not ready');
  if (observed.sandboxes.filter((s) => s.state === 'ready').length > 1) return create('more than one sandbox is ready');
  const network = pod.spec.hostNetwork ? 'node' : 'pod';
  if (newest.network !== network) return create('the network namespace of the sandbox is not the one asked for');
  if (network === 'pod' && newest.ips.length === 0) return create('the sandbox has no IP address');
  return { do: 'keep', id: newest.id };
}

/**
 * Whether a pod whose sandbox cannot be used gets another at all (kuberuntime_manager.go:computePodActions). One that
 * never restarts does not, once anything of it ran: running it again would be a second run. Containers that succeeded
 * are not started again under OnFailure; if none is left, the pod is over.
 */
export function endsWithoutSandbox(pod: DesiredPod, observed: ObservedPod): boolean {
  const policy = pod.spec.restartPolicy ?? 'Always';
  if (policy === 'Never') return observed.containers.some(hasRun);
  if (policy !== 'OnFailure') return false;
  return pod.spec.containers.every(({ name }) => {
    const newest = observed.containers.find((c) => c.name === name);
    return newest?.state === 'exited' && succeeded(newest);
  });
}

/**
 * Whether an instance counts as a run. One that was made and killed before it was started does not; one that the runtime
 * could not start does.
 */
function hasRun({ state, startedAt, reason }: ObservedContainer): boolean {
  return state === 'running' || (state === 'exited' && (startedAt !== undefined || reason === 'StartError'));
}
