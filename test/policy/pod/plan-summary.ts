import type { DesiredPod, PodSpec } from '../../../machines/kubernetes.types.ts';
import { planContainers, type PodView } from '../../../machines/pod/policy/plan-containers.ts';
import type { ContainerPlan } from '../../../machines/pod/container.types.ts';
import type { PodPlan } from '../../../machines/pod/pod.types.ts';
import type { ObservedContainer, ObservedSandbox } from '../../../machines/runtime.types.ts';
import { container, observed, pod, sandbox, T0 } from './fixtures.ts';

/** The plan of a pod that is not told to end, in a usable sandbox `s0` unless others are given. */
export function planOf(
  desired: DesiredPod,
  containers: ObservedContainer[],
  sandboxes: ObservedSandbox[] = [sandbox()],
  more: Pick<Partial<PodView>, 'termination' | 'now' | 'replaced'> = {},
): PodPlan {
  const { now = T0, termination, replaced } = more;
  return planContainers(desired, { observed: observed(containers, sandboxes), now, termination, replaced });
}

/** A plan in words: `run`, `hold initializing`, `stop podStopping` by container, `sandbox` and `finished`. */
export function words(plan: PodPlan): Record<string, string | boolean> {
  const { sandbox: s } = plan;
  return {
    sandbox: s.do === 'keep' ? `keep ${s.id}` : s.do === 'create' ? `create ${s.attempt}` : 'none',
    finished: plan.finished,
    ...containerWords(plan),
  };
}

/** The same without sandbox and end. */
export function containerWords({ containers }: PodPlan): Record<string, string> {
  return Object.fromEntries(Object.entries(containers).map(([name, plan]) => [name, word(plan)]));
}

const word = (plan: ContainerPlan) => (plan.do === 'run' ? 'run' : `${plan.do} ${plan.reason}`);

type Policy = NonNullable<PodSpec['restartPolicy']>;

/** Containers named in `init` (a name ending in `+` is a sidecar) and `regular`. */
export function podOf(restartPolicy: Policy, init: string[], regular: string[]): DesiredPod {
  const initContainers = init.map((name) =>
    name.endsWith('+') ? container(name.slice(0, -1), { restartPolicy: 'Always' }) : container(name),
  );
  return pod({ restartPolicy, initContainers, containers: regular.map((name) => container(name)) });
}
