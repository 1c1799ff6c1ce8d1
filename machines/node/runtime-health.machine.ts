import { assign, setup } from 'xstate';
import type { AgentEnv, ParentRef } from '../agent.types.ts';
import { AgentError } from '../agent-error.types.ts';
import { happened } from '../notify.ts';
import { slot } from '../slot.types.ts';
import type { HealthReport, RuntimeHealthSlots } from '../syncloop/syncloop.types.ts';
import { runtimeHealthWords } from './words.ts';

export interface RuntimeHealthInput {
  env: AgentEnv;
  parent: ParentRef;
  /** Poll of the runtime's Status, ms (kubelet: 5000). */
  periodMs: number;
}

type Health = Extract<HealthReport, { type: 'health.changed' }>['health'];

interface RuntimeHealthContext extends RuntimeHealthInput {
  /** What the last check said; undefined before the first has ended. */
  health?: Health;
  message: string;
  /** When the runtime was lost, ms; undefined while it is there. */
  lostAt?: number;
}

/** An answer that takes longer is told of, ms: a runtime that hangs refuses nothing, it just does not answer. */
const SLOW = 10_000;

/** While the runtime is away it is asked this often, ms, so that the agent goes on soon after it is back. */
const AWAY_PERIOD = 1000;

const slots: RuntimeHealthSlots = { checkRuntime: slot('checkRuntime') };

/**
 * Watches the runtime's own word on itself (CRI Status) and tells the syncloop when it changes. A runtime that cannot be
 * asked is unhealthy at once, which pauses the syncloop; the 30 s after which the node is NotReady are the node's matter
 * (runtime.go:runtimeErrors). A missing pod network alone holds back only pods that need it.
 */
export const runtimeHealthMachine = setup({
  types: { context: {} as RuntimeHealthContext, input: {} as RuntimeHealthInput },
  actors: { ...slots },
  delays: {
    slow: SLOW,
    checkPeriod: ({ context: { health, periodMs } }) =>
      health === 'unhealthy' ? Math.min(AWAY_PERIOD, periodMs) : periodMs,
  },
  guards: {
    isHealthy: ({ context }) => context.health === 'healthy',
    lacksNetwork: ({ context }) => context.health === 'networkNotReady',
    isUnhealthy: ({ context }) => context.health === 'unhealthy',
  },
  actions: {
    report: ({ context: { parent, message } }, health: Health) => {
      const report: HealthReport = { type: 'health.changed', health, message };
      parent.send(report);
    },
    lose: assign(({ context }) => ({ lostAt: context.env.elapsed() })),
    tellLost: ({ context: { parent, message, periodMs } }) =>
      happened(parent, {
        type: 'Warning',
        reason: 'RuntimeNotReady',
        message:
          `container runtime is not ready: ${message}; no pod is added until it is back, what it runs goes on; ` +
          `it is asked every ${Math.min(AWAY_PERIOD, periodMs) / 1000} s`,
      }),
    tellSlow: ({ context: { parent } }) =>
      happened(parent, {
        type: 'Warning',
        reason: 'RuntimeNotReady',
        message: `container runtime has not answered for ${SLOW / 1000} s whether it is ready; it is waited for, and what it runs goes on`,
      }),
    tellBack: ({ context: { parent, env, lostAt = env.elapsed() } }) =>
      happened(parent, {
        type: 'Normal',
        reason: 'RuntimeReady',
        message: `container runtime is back after ${Math.round((env.elapsed() - lostAt) / 1000)} s; all that it has is listed, and pods are added again`,
      }),
    tellNoNetwork: ({ context: { parent, message } }) =>
      happened(parent, {
        type: 'Warning',
        reason: 'NetworkNotReady',
        message: `network is not ready: ${message}; only pods of the host network start until it is`,
      }),
    tellNetwork: ({ context: { parent } }) =>
      happened(parent, {
        type: 'Normal',
        reason: 'NetworkReady',
        message: 'network is ready: pods of every kind start',
      }),
  },
}).createMachine({
  id: 'runtimeHealth',
  meta: runtimeHealthWords,
  description: 'Whether the container runtime answers, is ready, and has a pod network.',
  context: ({ input }) => ({ ...input, message: '' }),
  type: 'parallel',
  states: {
    check: {
      description: 'Asks the runtime again and again, one question at a time.',
      initial: 'checking',
      states: {
        checking: {
          description: 'Asks the runtime for its status.',
          after: { slow: { actions: 'tellSlow' } },
          invoke: {
            src: 'checkRuntime',
            input: {},
            onDone: {
              target: 'waiting',
              actions: assign(({ event: { output } }) => ({
                health: !output.runtimeReady ? 'unhealthy' : output.networkReady ? 'healthy' : 'networkNotReady',
                message: output.message,
              })),
            },
            onError: {
              target: 'waiting',
              actions: assign(({ event }) => ({
                health: 'unhealthy',
                message: AgentError.from(event.error, 'Status').message,
              })),
            },
          },
        },
        waiting: {
          description: 'Waits for the next question: a period, or a second while the runtime is away.',
          after: { checkPeriod: 'checking' },
        },
      },
    },
    verdict: {
      description: 'What the last answer means.',
      initial: 'unknown',
      states: {
        unknown: {
          description: 'The runtime has not been asked yet.',
          always: [
            { guard: 'isHealthy', target: 'healthy' },
            { guard: 'lacksNetwork', target: 'networkNotReady' },
            { guard: 'isUnhealthy', target: 'unhealthy' },
          ],
        },
        healthy: {
          description: 'The runtime and its pod network are ready.',
          entry: { type: 'report', params: 'healthy' },
          always: [
            { guard: 'lacksNetwork', target: 'networkNotReady' },
            { guard: 'isUnhealthy', target: 'unhealthy' },
          ],
        },
        networkNotReady: {
          meta: { holdsBack: true },
          description: 'The runtime is ready and the pod network is not: only pods of the host network can start.',
          entry: [{ type: 'report', params: 'networkNotReady' }, 'tellNoNetwork'],
          always: [
            { guard: 'isHealthy', target: 'healthy', actions: 'tellNetwork' },
            { guard: 'isUnhealthy', target: 'unhealthy' },
          ],
        },
        unhealthy: {
          meta: { holdsBack: true },
          description: 'The runtime does not answer or says that it is not ready; the syncloop pauses.',
          entry: [{ type: 'report', params: 'unhealthy' }, 'lose', 'tellLost'],
          exit: 'tellBack',
          always: [
            { guard: 'isHealthy', target: 'healthy' },
            { guard: 'lacksNetwork', target: 'networkNotReady' },
          ],
        },
      },
    },
  },
});
