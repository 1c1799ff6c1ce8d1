import type { DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedPod } from '../../runtime.types.ts';
import type { PodPlan } from '../pod.types.ts';

/**
 * Regular containers start one after another in the order of the spec; one that fails to start does not hold up the
 * next (kuberuntime_manager.go:SyncPod, step "start containers in podContainerChanges.ContainersToStart").
 *
 * A container has had its turn when it has an instance that ran in the current sandbox, or waits for a reason of its
 * own (`waiting`: back-off, image pull error …). Until then the `run` plans behind it become `hold`.
 */
export function inStartOrder(
  plan: PodPlan,
  pod: DesiredPod,
  observed: ObservedPod,
  waiting: Readonly<Record<string, unknown>>,
): PodPlan {
  if (plan.sandbox.do !== 'keep') return plan;
  const sandboxId = plan.sandbox.id;
  const containers = { ...plan.containers };
  let blocked = false;
  for (const { name } of pod.spec.containers) {
    const own = containers[name];
    if (own?.do !== 'run') continue;
    const started = observed.containers.some(
      (c) => c.name === name && c.sandboxId === sandboxId && (c.state === 'running' || c.state === 'exited'),
    );
    if (blocked && !started) containers[name] = { do: 'hold', reason: 'initializing' };
    if (!started && !waiting[name]) blocked = true;
  }
  return { ...plan, containers };
}
