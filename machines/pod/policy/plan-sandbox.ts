import type { DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedPod } from '../../runtime.types.ts';
import type { PodPlan } from '../pod.types.ts';
import { hasRun, restarts } from './restart.ts';

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
 * Whether a pod whose sandbox cannot be used gets no other (kuberuntime_manager.go:computePodActions): nothing of it is
 * to run again, because every regular container ended for good, or because it never restarts and something of it ran,
 * which another sandbox would run a second time (B014). Instances that were `replaced` have not ended for good. A container's own restartPolicy outranks the pod's.
 */
export function endsWithoutSandbox(pod: DesiredPod, observed: ObservedPod, replaced: readonly string[]): boolean {
  const last = (name: string) => observed.containers.find((c) => c.name === name && hasRun(c));
  const done = pod.spec.containers.every((container) => {
    const newest = last(container.name);
    return newest?.state === 'exited' && !replaced.includes(newest.id) && !restarts(pod, container, newest);
  });
  if (done || pod.spec.restartPolicy !== 'Never') return done;
  const outranked = pod.spec.containers.some(({ restartPolicy = 'Never' }) => restartPolicy !== 'Never');
  return !outranked && observed.containers.some(hasRun);
}
