import { describe, test } from '@jest/globals';
import { containerMachine } from '../../machines/pod/container.machine.ts';
import type { ContainerDesired, CreateContainerInput } from '../../machines/pod/container.types.ts';
import type { ProbeInput } from '../../machines/pod/probe.types.ts';
import { container, currentSandbox, instance } from '../support/fixtures.ts';
import { emit, expectAllTransitionsWalked, fail, neverAbandoned, ok, oneAtATime, walk } from '../support/paths.ts';
import { desired, input, lastCreated, seen, toHold, toRun, toStop, type Run } from './container.world.ts';

const MUTATING = ['createContainer', 'startContainer', 'removeContainer'];

const CONFIG_ERROR = 'CreateContainerConfigError';

const STARTS = ['createContainer', 'startContainer'];

const probe = { exec: { command: ['true'] } };
const probed = { startupProbe: probe, livenessProbe: probe, readinessProbe: probe };

const isProbed = (run: Run) => run.snapshot.context.container.startupProbe !== undefined;

/** Everything that a pod may push down, from what the machine has told it. */
function pushes(run: Run): (ContainerDesired | { type: 'objects.changed' })[] {
  const { instances } = run.snapshot.context;
  const at = run.env.now() + 1;
  const running = instances.find((i) => i.state === 'running');
  // What happens to any container is walked with the others; here it is the probes that count.
  if (isProbed(run)) {
    const plans = [desired(run, { plan: toRun }), desired(run, { plan: toStop(30) })];
    if (running)
      plans.push(desired(run, { plan: toHold('podStopping') }), desired(run, { plan: toRun, instances: [] }));
    return plans;
  }
  const list: ReturnType<typeof pushes> = [
    desired(run, { plan: toRun }),
    desired(run, { plan: toStop(30) }),
    desired(run, { plan: toStop(5) }),
    desired(run, { plan: toHold('podStopping') }),
    desired(run, { plan: toHold('completed') }),
    desired(run, { plan: toHold('noSandbox'), sandbox: undefined }),
    desired(run, { plan: toHold('firstInTurn'), sandbox: undefined }),
    desired(run, { plan: toRun, sandbox: currentSandbox({ id: 's2', attempt: 1 }) }),
  ];
  if (run.snapshot.context.waiting?.reason === CONFIG_ERROR) list.push({ type: 'objects.changed' });
  if (running) {
    const ended = { ...running, state: 'exited' as const, finishedAt: at, exitCode: 1, at };
    list.push(desired(run, { plan: toRun, instances: instances.map((i) => (i === running ? ended : i)) }));
    list.push(desired(run, { plan: toRun, instances: instances.filter((i) => i !== running) }));
  }
  return list;
}

const report = walk(containerMachine, {
  inputs: {
    'fresh start': input(),
    'first in turn, without a sandbox': input({ plan: toHold('firstInTurn'), sandbox: undefined }),
    'its turn has not come': input({ plan: toHold('initializing') }),
    adoption: input({ instances: [instance()] }),
    'it is probed': input({ container: container(probed), instances: [instance()] }),
    'ended while the agent was down': input({
      instances: [instance({ attempt: 1, state: 'exited' }), instance({ state: 'exited' })],
    }),
    'state unknown': input({ instances: [instance({ state: 'unknown' })] }),
    'created, never started': input({ instances: [instance({ state: 'created' })] }),
    'runs twice': input({ instances: [instance({ attempt: 1 }), instance()] }),
  },
  events: pushes,
  outcomes: {
    imagePull: [
      ok({ imageRef: 'sha256:app' }),
      emit({ type: 'image.waiting', reason: 'ErrImagePull', message: 'no' } as never),
      emit({ type: 'event.happened', event: { type: 'Normal', reason: 'Pulling', message: '' } } as never),
      fail('Unexpected'),
    ],
    createContainer: (_call, run) => [
      ok({ id: lastCreated(run).id }),
      fail('CreateContainerError'),
      fail('NameReserved'),
      ...(run.snapshot.context.instances.length === 0 ? [fail(CONFIG_ERROR)] : []),
    ],
    startContainer: (_call, run) => [
      ok(lastCreated(run), 'running'),
      ok(lastCreated(run, { state: 'exited' }), 'exited at once'),
      fail('RunContainerError'),
    ],
    stopContainer: (call, run) => {
      const { id } = call.input as { id: string };
      const old = run.snapshot.context.instances.find((i) => i.id === id);
      const now = { ...(old ?? seen(run, { id })), at: run.env.now() };
      return [
        ok({ ...now, state: 'exited', finishedAt: run.env.now(), exitCode: 137 }, 'exited'),
        ok(undefined, 'gone'),
        ok(now, 'as before'),
        fail('DEADLINE_EXCEEDED'),
      ];
    },
    inspectContainer: (_call, run) => {
      const known = run.snapshot.context.instances;
      const created = run.calls.some((c) => c.src === 'createContainer');
      const late = created && !known.some((i) => i.id === lastCreated(run).id);
      return [
        ok(known, 'as known'),
        ...(late ? [ok([lastCreated(run, { state: 'created' }), ...known], 'created late')] : []),
        fail('UNAVAILABLE'),
      ];
    },
    removeContainer: [ok(), fail('UNAVAILABLE')],
    probe: (call, run) => {
      const { type: probe, id } = call.input as ProbeInput;
      const judge = (healthy: boolean, kept = true) =>
        emit({ type: 'probe.judged', probe, id, healthy, kept } as never, `${probe} ${healthy} ${kept}`);
      const other = probe === 'startup' && run.steps < 3 ? [judge(true, false), fail('Unexpected')] : [];
      return [judge(true), judge(false), ...other];
    },
  },
  key: ({ context }) => [
    context.verdicts,
    context.unkept,
    context.mourned,
    context.plan.do,
    context.fetchedAt !== undefined,
    context.sandbox?.id,
    context.instances.map((i) => [i.state, i.sandboxId]),
    Math.min(context.backoff?.delayMs ?? 0, 20_000),
    context.retry?.reasonMs ?? context.retry?.delayMs,
    context.waiting?.reason,
  ],
  invariants: {
    'one mutating call at a time': oneAtATime([...MUTATING, 'stopContainer']),
    'mutating calls end': neverAbandoned(MUTATING),
    'nothing is created or started once the plan says stop or hold': (run) => {
      const { plan } = run.snapshot.context;
      const begun = run.calls.find((c) => c.step === run.steps && STARTS.includes(c.src));
      const pulls = run.calls.some((c) => c.step === run.steps && c.src === 'imagePull');
      if (pulls && plan.do !== 'run' && !(plan.do === 'hold' && plan.reason === 'firstInTurn'))
        return `an image was asked for under plan ${plan.do}`;
      return begun && plan.do !== 'run' ? `${begun.src} began under plan ${plan.do}` : undefined;
    },
    'attempts of created containers strictly increase': (run) => {
      const made = run.calls
        .filter((c) => c.src === 'createContainer' && c.state === 'ok')
        .map((c) => (c.input as CreateContainerInput).attempt);
      return made.some((a, i) => i > 0 && a <= made[i - 1]!) ? `attempts ${made.join(', ')}` : undefined;
    },
    'the grace of a container never grows': (run) => {
      const graces = new Map<string, number>();
      for (const { src, input: asked } of run.calls) {
        if (src !== 'stopContainer') continue;
        const { id, gracePeriodSeconds } = asked as { id: string; gracePeriodSeconds: number };
        if (gracePeriodSeconds > (graces.get(id) ?? Infinity)) return `${id} got ${gracePeriodSeconds} s`;
        graces.set(id, gracePeriodSeconds);
      }
      return undefined;
    },
    'only what runs is probed, and nothing but its startup before it has started': (run) => {
      const { context } = run.snapshot;
      const alive = context.instances.filter((i) => i.state === 'running').map((i) => i.id);
      const probes = run.pending('probe').map((c) => c.input as ProbeInput);
      const lost = probes.find(({ id }) => !alive.includes(id));
      if (lost && run.snapshot.matches('running')) return `${lost.id} is probed and does not run`;
      const started = context.verdicts?.startup === true;
      const early = probes
        .filter(({ type }) => !context.unkept.includes(type))
        .find(({ type, id }) => (type === 'startup') === (started && context.verdicts?.id === id));
      return early && `${early.type} is asked for, with the startup found ${context.verdicts?.startup}`;
    },
    'nothing is created while an instance runs': (run) => {
      const creating = run.pending('createContainer').length > 0;
      const live = run.snapshot.context.instances.some((i) => i.state === 'running' || i.state === 'unknown');
      return creating && live ? 'a second one is created' : undefined;
    },
    'the parent knows whether a mutating call is in flight': (run) => {
      const told =
        run.parent.ofType<{ type: 'container.changed'; busy: boolean }>('container.changed').at(-1)?.busy ?? false;
      const busy = run.pending().some((c) => [...MUTATING, 'stopContainer'].includes(c.src));
      return busy && !told ? 'it was told that none is' : undefined;
    },
    'something can always happen next': (run) =>
      run.snapshot.hasTag('busy') && run.pending().length === 0 && run.untilTimer() === undefined
        ? 'it is stuck'
        : undefined,
  },
  maxDepth: 7,
});

describe('the paths of a container', () => {
  test('every transition is walked, and the invariants hold in each moment', () => {
    expectAllTransitionsWalked(report);
  });
});
