import { ok, type Call, type Driven, type Outcome } from '../support/drive.ts';
import { container, containerSettings, currentSandbox, instance, pod } from '../support/fixtures.ts';
import { deferred, drive } from '../support/drive.ts';
import { containerMachine } from '../../machines/pod/container.machine.ts';
import type {
  ContainerChanged,
  ContainerDesired,
  ContainerInput,
  ContainerPlan,
  CreateContainerInput,
} from '../../machines/pod/container.types.ts';
import type { ObservedContainer } from '../../machines/runtime.types.ts';

/** What the tests of the container chart share: plans, pushes, and the runtime's answers to its calls. */
export type Run = Driven<typeof containerMachine>;

export const toRun: ContainerPlan = { do: 'run', reason: 'not running' };
export const toHold = (reason: Extract<ContainerPlan, { do: 'hold' }>['reason']): ContainerPlan => ({
  do: 'hold',
  reason,
});
export const toStop = (gracePeriodSeconds = 30): ContainerPlan => ({
  do: 'stop',
  reason: 'podStopping',
  message: 'Stopping container app',
  gracePeriodSeconds,
});

export const input =
  (over: Partial<ContainerInput> = {}) =>
  (world: Pick<ContainerInput, 'env' | 'parent'>): ContainerInput => ({
    ...world,
    pod: pod(),
    container: container(),
    kind: 'regular',
    plan: toRun,
    sandbox: currentSandbox(),
    instances: [],
    highestLogAttempt: -1,
    settings: containerSettings(),
    ...over,
  });

const target = deferred(containerMachine);
export const start = (over: Partial<ContainerInput> = {}): Run => drive(target, { input: input(over) });

/** A push of what the pod knows: by default all that the machine has told it, with the plan it has. */
export function desired(run: Run, over: Partial<Omit<ContainerDesired, 'type'>> = {}): ContainerDesired {
  const { pod: now, container: own, plan, sandbox, instances } = run.snapshot.context;
  return { type: 'container.desired', pod: now, container: own, plan, sandbox, instances, ...over };
}

export const pending = (run: Run): string[] => run.pending().map((c) => c.src);
export const changes = (run: Run): ContainerChanged[] => run.parent.ofType<ContainerChanged>('container.changed');
export const lastWaiting = (run: Run) => changes(run).at(-1)?.waiting;

/** The runtime's own answer, seen now. */
export const seen = (run: Run, over: Partial<ObservedContainer>): ObservedContainer =>
  instance({ createdAt: run.env.now(), at: run.env.now(), ...over });

/** The instance that the last create made, in a state. */
export function lastCreated(run: Run, over: Partial<ObservedContainer> = {}): ObservedContainer {
  const call = run.calls.findLast((c) => c.src === 'createContainer') as Call & { input: CreateContainerInput };
  return seen(run, { attempt: call.input.attempt, sandboxId: call.input.sandbox.id, ...over });
}

export const image: Outcome = ok({ imageRef: 'sha256:app' });

/** Goes through pull, create and start with good answers; the instance then runs, and the pod knows. */
export function bringUp(run: Run): ObservedContainer {
  run.settle('imagePull', image);
  const made = lastCreated(run);
  run.settle('createContainer', ok({ id: made.id }));
  run.settle('startContainer', ok(made));
  run.send(desired(run));
  return made;
}

/** The running instance ends, and the pod sees it. */
export function crash(run: Run, over: Partial<ObservedContainer> = {}, plan: ContainerPlan = toRun): void {
  const [newest, ...older] = run.snapshot.context.instances;
  const ended = {
    ...newest!,
    state: 'exited' as const,
    exitCode: 1,
    reason: 'Error',
    finishedAt: run.env.now(),
    at: run.env.now(),
  };
  run.send(desired(run, { plan, instances: [{ ...ended, ...over }, ...older] }));
}

/** Settles removals of old instances until something else is next. */
export function tidy(run: Run): void {
  while (run.pending('removeContainer').length > 0) run.settle('removeContainer', ok());
}
