import type { ObservedContainer } from '../../runtime.types.ts';
import type { ContainerKind, ContainerPlan } from '../container.types.ts';

/** Text of the Killing event (kuberuntime_manager.go:computePodActions, kuberuntime_container.go:killContainer). */
export function killMessage(
  { plan, kind, container }: { plan: ContainerPlan; kind: ContainerKind; container: { name: string } },
  { state }: ObservedContainer,
): string {
  if (plan.do === 'stop') return plan.message;
  if (state !== 'unknown') return `Stopping container ${container.name}`;
  return `${kind === 'regular' ? 'Container' : 'Init container'} is in "unknown" state, try killing it before restart`;
}
