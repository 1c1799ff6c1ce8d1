/**
 * Walks a statechart along generated paths and says what of it was walked.
 *
 *     const report = walk(containerMachine, {
 *       inputs: { 'fresh start': (world) => ({ ...world, pod: pod(), instances: [], … }) },
 *       events: (run) => [desired(run, { do: 'run', reason: 'new' }), desired(run, stop)],
 *       outcomes: {
 *         createContainer: [ok({ id: 'c1' }), fail('CreateContainerError')],
 *         startContainer: (call) => [ok(instance({ id: (call.input as { id: string }).id })), fail('RunContainerError')],
 *         imagePull: [ok({ imageRef: 'sha256:1' }), emit({ type: 'image.waiting', reason: 'ErrImagePull', message: '' })],
 *       },
 *       key: (snapshot) => [snapshot.context.plan.do, snapshot.context.instances.map((i) => i.state)],
 *       invariants: { 'one mutating call at a time': oneAtATime(['createContainer', 'startContainer']) },
 *     });
 *     expectAllTransitionsWalked(report);
 *
 * - Every actor that the chart lists (promise slots, callback actors, child machines) is replaced by a deferred one
 *   (drive.ts): it does nothing until the walk settles it. `outcomes` must name each of them; `emit` sends an event from it
 *   and leaves it running. Name actors that are to run as they are in `real`.
 * - A step is: one of `events`, one outcome of one pending effect, or the clock moved to the next timer. Exploration is
 *   breadth first; each path is replayed on a fresh actor, so a machine is never restored from a snapshot.
 * - A moment is not explored again if its abstract key was seen: state value, `key(snapshot)`, names of the pending effects,
 *   and whether a timer is set. Put into `key` whatever decides on what comes next (kinds and counts rather than times and
 *   ids), or the walk does not end before `maxDepth`.
 * - Invariants are asked after every new step of every path. They see the whole history (`run.calls`, `run.parent.sent`) and
 *   answer a sentence where it is violated. A machine that throws, or that dies of an unhandled error, is a violation by itself.
 * - The report lists every transition of the chart (events, always, after, onDone, onError; by state, descriptor and place in
 *   the list), each walked or not, and every state entered or not.
 */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from '@jest/globals';
import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  EventFrom,
  SnapshotFrom,
} from 'xstate';
import { ROOT } from './import-graph.ts';
import { deferred, drive, type Call, type DriveOptions, type Driven, type Outcome } from './drive.ts';

export { emit, fail, ok } from './drive.ts';

type Invariant<M extends AnyStateMachine> = (run: Driven<M>) => string | undefined;

export interface WalkOptions<M extends AnyStateMachine> {
  /** The machine's input, by a name for reports; called anew for each path. */
  inputs: Record<string, DriveOptions<M>['input']>;
  /** Events that may come now. */
  events: (run: Driven<M>) => EventFrom<M>[];
  outcomes: Record<string, readonly Outcome[] | ((call: Call, run: Driven<M>) => readonly Outcome[])>;
  key?: (snapshot: SnapshotFrom<M>) => unknown;
  invariants?: Record<string, Invariant<M>>;
  real?: readonly string[];
  /** Longest path, in steps; 14 where not given. */
  maxDepth?: number;
  /** Paths after which the walk gives up with an error: the key is too fine. 50 000 where not given. */
  maxPaths?: number;
}

export interface WalkReport {
  /** The machine's id. */
  machine: string;
  /** `state · descriptor[index] {guard} → target`. */
  transitions: { id: string; walked: boolean }[];
  states: { id: string; entered: boolean }[];
  /** Violated invariants and thrown errors, with the path that leads there; the walk ends after ten. */
  problems: { path: string[]; message: string }[];
  paths: number;
  /** Moments not explored further because of `maxDepth`. */
  cutOff: number;
}

type Step<M extends AnyStateMachine> =
  | { kind: 'event'; event: EventFrom<M>; label: string }
  | { kind: 'settle'; call: number; outcome: Outcome; label: string }
  | { kind: 'timer'; label: string };

const MAX_PROBLEMS = 10;

export function walk<M extends AnyStateMachine>(machine: M, options: WalkOptions<M>): WalkReport {
  const target = deferred(machine, options.real);
  for (const src of Object.keys(machine.implementations.actors)) {
    if (!options.outcomes[src] && !options.real?.includes(src)) throw new Error(`walk: no outcomes for actor "${src}"`);
  }
  const walked = new Set<AnyTransitionDefinition>();
  const entered = new Set<string>();
  const problems: WalkReport['problems'] = [];
  const seen = new Set<string>();
  let paths = 0;
  let cutOff = 0;

  const replay = (inputName: string, steps: readonly Step<M>[]): Driven<M> => {
    paths += 1;
    const run = drive(target, {
      input: options.inputs[inputName]!,
      onTransitions: (transitions, snapshot) => {
        for (const t of transitions) {
          walked.add(t);
          // The very first state may be left in the step that entered it, before anything is told.
          entered.add(t.source.id);
        }
        for (const node of (snapshot as { _nodes?: AnyStateNode[] })._nodes ?? []) entered.add(node.id);
      },
    });
    for (const step of steps) take(run, step);
    return run;
  };

  let frontier: { inputName: string; steps: Step<M>[] }[] = Object.keys(options.inputs).map((inputName) => ({
    inputName,
    steps: [],
  }));
  const maxDepth = options.maxDepth ?? 14;
  const maxPaths = options.maxPaths ?? 50_000;
  for (let depth = 0; frontier.length > 0 && problems.length < MAX_PROBLEMS; depth++) {
    const next: typeof frontier = [];
    for (const { inputName, steps } of frontier) {
      if (problems.length >= MAX_PROBLEMS) break;
      if (paths > maxPaths)
        throw new Error(`walk: more than ${maxPaths} paths at depth ${depth}; make the key coarser`);
      const run = replay(inputName, steps);
      const path = [inputName, ...steps.map((s) => s.label)];
      const found = violations(run, options.invariants ?? {});
      problems.push(...found.map((message) => ({ path, message })));
      const { status, value } = run.snapshot as AnyMachineSnapshot;
      const key = JSON.stringify([
        value,
        options.key?.(run.snapshot),
        run
          .pending()
          .map((c) => c.src)
          .sort(),
        run.untilTimer() !== undefined,
      ]);
      if (found.length === 0 && !seen.has(key) && status === 'active') {
        seen.add(key);
        if (depth === maxDepth) cutOff += 1;
        else for (const step of choices(run, options)) next.push({ inputName, steps: [...steps, step] });
      }
      run.stop();
    }
    frontier = next;
  }
  return {
    machine: machine.id,
    transitions: allTransitions(target.machine).map((t) => ({ id: t.id, walked: walked.has(t.definition) })),
    states: allStates(target.machine).map(({ id }) => ({ id, entered: entered.has(id) })),
    problems,
    paths,
    cutOff,
  };
}

function choices<M extends AnyStateMachine>(run: Driven<M>, { events, outcomes }: WalkOptions<M>): Step<M>[] {
  const steps: Step<M>[] = events(run).map((event) => ({
    kind: 'event',
    event,
    label: JSON.stringify(event).slice(0, 160),
  }));
  for (const call of run.pending()) {
    const given = outcomes[call.src] ?? [];
    for (const outcome of typeof given === 'function' ? given(call, run) : given) {
      steps.push({ kind: 'settle', call: run.calls.indexOf(call), outcome, label: `${call.src}: ${outcome.label}` });
    }
  }
  if (run.untilTimer() !== undefined) steps.push({ kind: 'timer', label: `after ${run.untilTimer()} ms` });
  return steps;
}

function take<M extends AnyStateMachine>(run: Driven<M>, step: Step<M>): void {
  if (step.kind === 'event') run.send(step.event);
  else if (step.kind === 'settle') run.settle(run.calls[step.call]!, step.outcome);
  else run.advance(run.untilTimer() ?? 0);
}

function violations<M extends AnyStateMachine>(run: Driven<M>, invariants: Record<string, Invariant<M>>): string[] {
  if (run.error !== undefined || (run.snapshot as AnyMachineSnapshot).status === 'error') {
    const error = run.error;
    return [`the machine died: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
  return Object.entries(invariants).flatMap(([name, holds]) => {
    const violated = holds(run);
    return violated === undefined ? [] : [`${name}: ${violated}`];
  });
}

function allStates(machine: AnyStateMachine): AnyStateNode[] {
  const under = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(under)];
  return under(machine.root);
}

function allTransitions(machine: AnyStateMachine): { id: string; definition: AnyTransitionDefinition }[] {
  return allStates(machine).flatMap((node) => {
    const lists: [string, readonly AnyTransitionDefinition[]][] = [...node.transitions].map(([descriptor, list]) => [
      readable(descriptor, node),
      list,
    ]);
    if (node.always) lists.push(['always', node.always]);
    return lists.flatMap(([descriptor, list]) =>
      list.map((definition, index) => ({ id: transitionId(node, descriptor, index, definition), definition })),
    );
  });
}

function transitionId(
  node: AnyStateNode,
  descriptor: string,
  index: number,
  definition: AnyTransitionDefinition,
): string {
  const guard = definition.guard === undefined ? '' : ` {${guardName(definition.guard)}}`;
  const target = definition.target?.map((t) => t.id).join(', ') ?? 'stays';
  return `${node.id} · ${descriptor}[${index}]${guard} → ${target}`;
}

function guardName(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'function') return guard.name === '' ? 'inline' : guard.name;
  return (guard as { type: string }).type;
}

/** `xstate.done.actor.0.x.creating` as `onDone createContainer`. */
function readable(descriptor: string, node: AnyStateNode): string {
  const [, kind, id] = /^xstate\.(done\.actor|error\.actor|done\.state|after)\.(.*)$/.exec(descriptor) ?? [];
  if (kind === undefined) return descriptor;
  if (kind === 'after') return `after ${id?.replace(`.${node.id}`, '')}`;
  if (kind === 'done.state') return 'onDone';
  const src = node.invoke.find((i) => i.id === id)?.src;
  return `${kind === 'done.actor' ? 'onDone' : 'onError'} ${typeof src === 'string' ? src : id}`;
}

/**
 * Throws unless the walk found no problem, entered every state and walked every transition. `except` lists transitions (or
 * states) by their id that the walk cannot reach, each with a reason in the test; one that was walked after all is an error.
 */
export function expectAllTransitionsWalked(
  report: WalkReport,
  { except = [] }: { except?: readonly string[] } = {},
): void {
  noteCoverage(report);
  const lines = report.problems.map(({ path, message }) => `${message}\n    on the path ${path.join('\n      → ')}`);
  const parts = [
    ...report.transitions.map(({ id, walked }) => ({ id, reached: walked, what: 'transition' })),
    ...report.states.map(({ id, entered }) => ({ id, reached: entered, what: 'state' })),
  ];
  for (const { id, reached, what } of parts) {
    if (!reached && !except.includes(id)) lines.push(`${what} not walked: ${id}`);
    if (reached && except.includes(id)) lines.push(`${what} was excepted, and is walked: ${id}`);
  }
  for (const id of except) if (!parts.some((p) => p.id === id)) lines.push(`excepted, and not in the chart: ${id}`);
  if (lines.length > 0) throw new Error(`${lines.length} findings in ${report.paths} paths\n  ${lines.join('\n  ')}`);
}

/** Number of states and transitions that a walk of the machine has to see. */
export function sizeOf(machine: AnyStateMachine): { states: number; transitions: number } {
  // The machine itself is no state.
  return { states: allStates(machine).length - 1, transitions: allTransitions(machine).length };
}

/** For the table that closes the run (reporter.js): what the paths test of a machine has walked. */
function noteCoverage({ machine, states, transitions, paths }: WalkReport): void {
  const file = relative(ROOT, expect.getState().testPath ?? '');
  const folder = process.env['STATELET_TEST_COVERAGE'];
  if (folder === undefined || !file.startsWith('test/machines/')) return;
  const of = (all: readonly boolean[]) => `${all.filter(Boolean).length}/${all.length}`;
  const row = {
    ...{ machine, file, paths },
    states: of(states.slice(1).map(({ entered }) => entered)),
    transitions: of(transitions.map(({ walked }) => walked)),
  };
  writeFileSync(join(folder, `${machine}.json`), JSON.stringify(row));
}

/** Invariant: of these effects never two are pending at once. */
export function oneAtATime(srcs: readonly string[]): Invariant<AnyStateMachine> {
  return (run) => {
    const pending = run.pending().filter((c) => srcs.includes(c.src));
    return pending.length > 1 ? `${pending.map((c) => c.src).join(' and ')} are in flight together` : undefined;
  };
}

/** Invariant: these effects are never left before they settled (rule 5). */
export function neverAbandoned(srcs: readonly string[]): Invariant<AnyStateMachine> {
  return (run) => {
    const left = run.calls.find((c) => c.state === 'abandoned' && srcs.includes(c.src));
    return left && `${left.src} was left while it was in flight`;
  };
}
