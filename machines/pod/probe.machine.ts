import { assign, enqueueActions, setup } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import { happened } from '../notify.ts';
import { slot } from '../slot.types.ts';
import { withError } from '../with-error.ts';
import { FIRST_VERDICT, streakAfter, verdictOf, type Streak } from './policy/probe-verdict.ts';
import type { ProbeInput, ProbeJudged, ProbeOutcome, ProbeSlots } from './probe.types.ts';
import { probeWords } from './words.ts';

interface ProbeContext extends ProbeInput {
  streak?: Streak;
  /** What the last probe failed with, until one succeeds. */
  failure?: string;
  /** What the parent was told last. */
  told?: boolean;
  /** The verdict could not be kept. */
  unkept: boolean;
  /** How often it could not be made, in a row, since `begunAt`. */
  errors: number;
  /** When the last probe began, in the process's own time, ms. */
  begunAt: number;
  /** Longest part of the first wait that only keeps probes of many containers apart, ms. */
  spreadMs: number;
}

const slots: ProbeSlots = { runProbe: slot('runProbe'), keepVerdict: slot('keepVerdict') };

/** A probe that cannot be made is tried so often at once (prober/prober.go:maxProbeRetries). */
const TRIES = 3;
/** What decides whether users are served is asked for soon, even where many containers are there at once, ms. */
const SOON_MS = 1_000;
const DEFAULT_PERIOD = 10;

const periodMs = ({ probe }: Pick<ProbeInput, 'probe'>) => (probe.periodSeconds ?? DEFAULT_PERIOD) * 1000;
const title = ({ type }: ProbeInput) => type[0]?.toUpperCase() + type.slice(1);

/** The streak with this result, and the verdict where that is another than before. */
function judged(context: ProbeContext, { result }: ProbeOutcome) {
  const streak = streakAfter(context.streak, result !== 'failure');
  const verdict = verdictOf(streak, context.probe);
  const known = context.verdict ?? FIRST_VERDICT[context.type];
  return { streak, news: verdict === known ? undefined : verdict };
}

function record(context: ProbeContext, reason: string, message: string): void {
  const { name, namespace, uid } = context.pod.metadata;
  const pod = { name, namespace, uid };
  happened(context.parent, { type: 'Warning', reason, message, pod, fieldPath: context.fieldPath });
}

const probeSetup = setup({
  types: { context: {} as ProbeContext, input: {} as ProbeInput },
  actors: { ...slots },
  delays: {
    firstProbe: ({ context: { env, probe, startedAt, spreadMs } }) =>
      Math.max(startedAt + (probe.initialDelaySeconds ?? 0) * 1000 - env.elapsed(), env.random() * spreadMs),
    keepRetry: ({ context }) => periodMs(context),
    period: ({ context }) => Math.max(0, context.begunAt + periodMs(context) - context.env.elapsed()),
  },
  guards: {
    mustKeep: ({ context }, outcome: ProbeOutcome) => context.unkept || judged(context, outcome).news !== undefined,
    mayTryAgain: ({ context }) => context.errors + 1 < TRIES,
    /** What was found counts for as long as the instance runs: that it has started or not, that it is not alive. */
    isDecided: ({ context: { type, verdict } }) => type === 'startup' || (type === 'liveness' && verdict === false),
  },
  actions: {
    begin: assign(({ context: { env, errors, begunAt } }) => ({ begunAt: errors > 0 ? begunAt : env.elapsed() })),
    count: assign(({ context }, outcome: ProbeOutcome) => ({
      streak: judged(context, outcome).streak,
      failure: outcome.result === 'failure' ? outcome.message : undefined,
      errors: 0,
    })),
    judge: assign(({ context }, outcome: ProbeOutcome) => ({
      verdict: judged(context, outcome).news ?? context.verdict,
    })),
    tellOutcome: ({ context }, { result, message }: ProbeOutcome) => {
      if (result === 'failure') record(context, 'Unhealthy', `${title(context)} probe failed: ${message}`);
      if (result === 'warning') record(context, 'ProbeWarning', `${title(context)} probe warning: ${message}`);
    },
    fail: assign(({ context }) => ({ errors: context.errors + 1 })),
    tellError: ({ context }, error: unknown) => {
      const { message } = AgentError.from(error, 'runProbe');
      record(context, 'Unhealthy', `${title(context)} probe errored and resulted in unknown state: ${message}`);
    },
    giveUp: assign((_, error: unknown) => ({ errors: 0, failure: AgentError.from(error, 'runProbe').message })),
    tellVerdict: enqueueActions(({ context, enqueue }, kept: boolean) => {
      const { parent, type, id, verdict, told, unkept } = context;
      if (verdict === undefined) throw new Error('told without a verdict');
      enqueue.assign({ told: verdict, unkept: !kept });
      if (verdict === told && unkept !== kept) return;
      enqueue(() =>
        parent.send({ type: 'probe.judged', probe: type, id, healthy: verdict, kept } satisfies ProbeJudged),
      );
    }),
  },
});

const outcome = ({ event }: { event: { output: ProbeOutcome } }) => event.output;
const tell = (kept: boolean) => ({ type: 'tellVerdict', params: kept }) as const;

/**
 * One probe of one instance of a container. A single result changes nothing: its parent is told once as many in a row as
 * the threshold asks for have come to another verdict than before.
 */
export const probeMachine = probeSetup.createMachine({
  id: 'probe',
  meta: probeWords,
  description: 'Asks one running instance of a container again and again whether it has started, lives or is ready.',
  context: ({ input }) => ({
    ...input,
    told: input.verdict,
    unkept: false,
    errors: 0,
    begunAt: 0,
    spreadMs: spread(input),
  }),
  initial: 'waitingToBegin',
  states: {
    waitingToBegin: {
      description: 'The container has its initial delay, which counts from its start, to come up.',
      after: { firstProbe: 'probing' },
    },
    probing: {
      description: 'Probes once: runs a command in the container, or connects to it.',
      entry: 'begin',
      invoke: {
        src: 'runProbe',
        input: ({ context: { type, probe, pod, container, id, podIP } }) => ({
          type,
          probe,
          pod,
          container,
          id,
          podIP,
        }),
        onDone: [
          {
            guard: { type: 'mustKeep', params: outcome },
            target: 'keeping',
            actions: [
              { type: 'tellOutcome', params: outcome },
              { type: 'judge', params: outcome },
              { type: 'count', params: outcome },
            ],
          },
          {
            target: 'waiting',
            actions: [
              { type: 'tellOutcome', params: outcome },
              { type: 'count', params: outcome },
            ],
          },
        ],
        onError: [
          { guard: 'mayTryAgain', target: 'probing', reenter: true, actions: 'fail' },
          {
            target: 'waiting',
            actions: [withError('tellError'), withError('giveUp')],
          },
        ],
      },
    },
    keeping: {
      description: 'Keeps the verdict, so that a later agent does not begin with none, and then tells it.',
      invoke: {
        src: 'keepVerdict',
        input: ({ context: { pod, container, id, type, verdict, hasStarted } }) => ({
          podUid: pod.metadata.uid,
          name: container.name,
          verdicts: { id, ...(hasStarted && { startup: true }), [type]: verdict === true },
        }),
        onDone: [
          { guard: 'isDecided', target: 'settled', actions: tell(true) },
          { target: 'waiting', actions: tell(true) },
        ],
        // What was found counts all the same.
        onError: [
          { guard: 'isDecided', target: 'waitingToKeep', actions: tell(false) },
          { target: 'waiting', actions: tell(false) },
        ],
      },
    },
    waitingToKeep: {
      description:
        'Its verdict stands for as long as the instance runs, and could not be kept; waits before the next try.',
      after: { keepRetry: 'keeping' },
    },
    waiting: {
      description: 'Waits for the rest of the period, which counts from the beginning of the last probe.',
      after: { period: 'probing' },
    },
    settled: { description: 'Its verdict stands for as long as the instance runs.', type: 'final' },
  },
});

/**
 * Instances that are there already when the agent starts are many at once: their probes begin apart (prober/worker.go:run).
 * One that is not known to be well is not kept waiting for a whole period.
 */
function spread({ adopted, type, verdict, ...input }: ProbeInput): number {
  if (!adopted) return 0;
  return verdict === true || type === 'liveness' ? periodMs(input) : Math.min(SOON_MS, periodMs(input));
}
