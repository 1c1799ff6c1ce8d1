import type { Container, DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedContainer, ObservedPod } from '../../runtime.types.ts';
import type { ContainerPlan } from '../container.types.ts';
import type { KeptVerdicts } from '../probe.types.ts';
import { succeeded } from './exit-success.ts';
import { isSidecar } from './pod-phase.ts';
import { hasStarted } from './probe-verdict.ts';
import { reasonToEnd, restarts } from './restart.ts';
import { stopContainer } from './stop-plan.ts';

const RUN: ContainerPlan = { do: 'run', reason: 'desired' };
const COMPLETED: ContainerPlan = { do: 'hold', reason: 'completed' };
const NOT_YET: ContainerPlan = { do: 'hold', reason: 'initializing' };

export interface InitView {
  observed: ObservedPod;
  replaced: readonly string[];
  verdicts?: KeptVerdicts;
}

export interface InitPlan {
  containers: Record<string, ContainerPlan>;
  /** Regular containers may start. */
  over: boolean;
  /** An init container ended badly for good: the pod cannot go on. */
  failed: boolean;
}

/**
 * The init containers and sidecars of a pod in its present sandbox. How far init has come is read from that sandbox
 * alone (B032, B035, B039), backwards: an instance of a container proves that every one before it is over, one of a
 * regular container that all are, even where their records were pruned (B036;
 * kuberuntime_container.go:computeInitContainerActions). A sidecar is over, for the next one, as soon as it has started.
 */
export function planInit(pod: DesiredPod, view: InitView, sandboxId: string): InitPlan {
  const { observed } = view;
  const containers = pod.spec.initContainers ?? [];
  const newest = ({ name }: Container) => observed.containers.find((c) => c.name === name && c.sandboxId === sandboxId);
  const reached = pod.spec.containers.some(newest) ? containers.length : containers.findLastIndex(newest);
  const plans: Record<string, ContainerPlan> = {};
  let next = reached;
  let failed = false;
  for (const [index, container] of containers.entries()) {
    const step = index > reached ? undefined : initStep(pod, container, newest(container), view);
    if (step && isSidecar(container)) plans[container.name] = step.plan;
    else if (index < reached) plans[container.name] = COMPLETED;
    else plans[container.name] = step?.plan ?? NOT_YET;
    if (index !== reached || !step) continue;
    if (step.over) next++;
    failed = step.failed === true;
  }
  if (reached === -1) next = 0;
  const starting = next === reached ? undefined : containers[next];
  if (starting) plans[starting.name] = RUN;
  return { containers: plans, over: next >= containers.length, failed };
}

function initStep(
  pod: DesiredPod,
  container: Container,
  newest: ObservedContainer | undefined,
  { replaced, verdicts }: InitView,
): { plan: ContainerPlan; over: boolean; failed?: true } {
  if (isSidecar(container)) {
    if (newest?.state !== 'running') return { plan: RUN, over: false };
    const own = verdicts?.[container.name];
    const reason =
      reasonToEnd(container, newest, own) ?? (replaced.includes(newest.id) ? 'definitionChanged' : undefined);
    if (reason) return { plan: stopContainer(pod, container, reason), over: false };
    return { plan: RUN, over: hasStarted(container, newest, own) };
  }
  if (newest?.state !== 'exited') return { plan: RUN, over: false };
  if (succeeded(newest)) return { plan: COMPLETED, over: true };
  return restarts(pod, container, newest) ? { plan: RUN, over: false } : { plan: COMPLETED, over: false, failed: true };
}
