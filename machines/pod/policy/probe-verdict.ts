import type { Container, DesiredPod, PodSpec, Probe } from '../../kubernetes.types.ts';
import type { ObservedContainer, ObservedPod } from '../../runtime.types.ts';
import type { ContainerKind, ContainerPlan, StopReason } from '../container.types.ts';
import type { KeptVerdicts, ProbeType, Verdicts } from '../probe.types.ts';

/** Results of one kind in a row. */
export interface Streak {
  healthy: boolean;
  count: number;
}

export function streakAfter(streak: Streak | undefined, healthy: boolean): Streak {
  return { healthy, count: streak?.healthy === healthy ? streak.count + 1 : 1 };
}

/** What results in a row come to: a verdict once its threshold is reached (prober/worker.go:doProbe). */
export function verdictOf({ healthy, count }: Streak, probe: Probe): boolean | undefined {
  const threshold = healthy ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
  return count >= threshold ? healthy : undefined;
}

/** What counts before a verdict: alive, and not ready; whether it has started is open (prober/worker.go:newWorker). */
export const FIRST_VERDICT: Readonly<Record<ProbeType, boolean | undefined>> = {
  startup: undefined,
  liveness: true,
  readiness: false,
};

type Instance = Pick<ObservedContainer, 'id' | 'state'>;

function found(probe: ProbeType, { id }: Instance, verdicts: Verdicts | undefined): boolean | undefined {
  return (verdicts?.id === id ? verdicts[probe] : undefined) ?? FIRST_VERDICT[probe];
}

/** Whether the instance has started: it runs, and its startup probe has succeeded where it has one. */
export function hasStarted(container: Container, instance: Instance, verdicts: Verdicts | undefined): boolean {
  if (instance.state !== 'running') return false;
  return !container.startupProbe || found('startup', instance, verdicts) === true;
}

/** Whether the instance has started, and its readiness probe succeeds where it has one. */
export function isReady(container: Container, instance: Instance, verdicts: Verdicts | undefined): boolean {
  if (!hasStarted(container, instance, verdicts)) return false;
  return !container.readinessProbe || found('readiness', instance, verdicts) === true;
}

/** The probe whose failure ends the running instance. */
export function failedProbe(
  container: Container,
  instance: Instance,
  verdicts: Verdicts | undefined,
): 'startup' | 'liveness' | undefined {
  if (instance.state !== 'running') return undefined;
  if (container.startupProbe && found('startup', instance, verdicts) === false) return 'startup';
  return container.livenessProbe && found('liveness', instance, verdicts) === false ? 'liveness' : undefined;
}

/** Why an instance is stopped whose probe failed. */
export const PROBE_STOPS = { startup: 'startupFailed', liveness: 'livenessFailed' } as const satisfies Record<
  string,
  StopReason
>;

/** Whether what a probe stopped is run again, however it ended (kuberuntime_manager.go:shouldRestartOnFailure). */
export function isFollowed({ restartPolicy }: Container, spec: PodSpec): boolean {
  return (restartPolicy ?? spec.restartPolicy ?? 'Always') !== 'Never';
}

/**
 * The probes that are made of the running instance now: until it has started the startup probe alone, then the others. One
 * that is to end is asked only whether it is ready, as long as it runs. What was decided for good is not asked again
 * (prober/worker.go:doProbe).
 */
export function wantedProbes(
  { container, kind, plan }: { container: Container; kind: ContainerKind; plan: ContainerPlan },
  instance: Instance,
  verdicts: Verdicts | undefined,
): ProbeType[] {
  if (kind === 'init' || instance.state !== 'running') return [];
  const ends = plan.do === 'stop' || (plan.do === 'hold' && plan.reason === 'podStopping');
  if (!hasStarted(container, instance, verdicts))
    return ends || failedProbe(container, instance, verdicts) ? [] : ['startup'];
  const probes: ProbeType[] = container.readinessProbe ? ['readiness'] : [];
  if (container.livenessProbe && !ends && !failedProbe(container, instance, verdicts)) probes.push('liveness');
  return probes;
}

/** What was kept counts, as it is kept before it is shown; a start that only the API knows stands, as nothing takes it back. */
function together(kept: Verdicts, shown: Verdicts | undefined): Verdicts {
  if (shown?.id !== kept.id) return kept;
  return { readiness: shown.readiness, ...kept, startup: true };
}

/**
 * What is known of a pod's probes when its actor is made: what an earlier agent kept, and what the API shows of the very
 * same container, as another program may have run it (prober_manager.go:setReadyStateOnKubeletRestart).
 *
 * @param observed what the runtime has: verdicts count only on what runs there
 * @param runtimeName the scheme of container ids
 */
export function firstVerdicts(
  kept: KeptVerdicts | undefined,
  pod: DesiredPod | undefined,
  observed: ObservedPod,
  runtimeName: string,
): KeptVerdicts {
  const { initContainerStatuses = [], containerStatuses = [] } = pod?.status ?? {};
  const scheme = `${runtimeName}://`;
  const shown = [...initContainerStatuses, ...containerStatuses].flatMap(({ name, containerID, started, ready }) =>
    containerID?.startsWith(scheme) && started
      ? [[name, { id: containerID.slice(scheme.length), startup: true, readiness: ready }] as const]
      : [],
  );
  const ofShown: KeptVerdicts = Object.fromEntries(shown);
  const ofRunning = Object.entries(kept ?? {}).filter(([, { id }]) => observed.containers.some((c) => c.id === id));
  const both = ofRunning.map(([name, known]) => [name, together(known, ofShown[name])] as const);
  return { ...ofShown, ...Object.fromEntries(both) };
}
