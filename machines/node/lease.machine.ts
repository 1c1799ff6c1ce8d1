import { assign, setup } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { Lease } from '../kubernetes.types.ts';
import { slot } from '../slot.types.ts';
import type { LeaseInput, LeaseSlots } from './lease.types.ts';
import { heartbeatRetryDelay, heldLease, renewalDelay } from './policy/lease-renewal.ts';
import { withError } from '../with-error.ts';
import { tellLasting } from './tell-lasting.ts';
import { leaseWords } from './words.ts';

interface LeaseContext extends LeaseInput {
  /** As the API server has it; undefined while that is not known. */
  lease?: Lease;
  /** Tries in a row that did not write it. */
  failures: number;
}

/** component-helpers/apimachinery/lease/controller.go:maxUpdateRetries. */
const MAX_CONFLICTS = 5;

const slots: LeaseSlots = {
  getLease: slot('getLease'),
  createLease: slot('createLease'),
  updateLease: slot('updateLease'),
};

const reasonOf = (error: unknown) => AgentError.from(error, 'lease').reason;
const told = withError('tellFailure');
const kept = { type: 'keep', params: ({ event }: { event: { output: Lease } }) => event.output } as const;

/**
 * The node's heartbeat: a lease in kube-node-lease, renewed at a quarter of its duration whatever else the agent does
 * (component-helpers/apimachinery/lease/controller.go). It ends with its parent only; a Node that was created anew gets a
 * new machine, which takes the lease over.
 */
export const leaseMachine = setup({
  types: { context: {} as LeaseContext, input: {} as LeaseInput },
  actors: { ...slots },
  delays: {
    renewal: ({ context: { durationSeconds, env } }) => renewalDelay(durationSeconds, env.random()),
    retry: ({ context: { failures, env } }) => heartbeatRetryDelay(failures, env.random()),
  },
  guards: {
    isNotFound: (_, error: unknown) => reasonOf(error) === 'NotFound',
    alreadyExists: (_, error: unknown) => reasonOf(error) === 'AlreadyExists',
    isConflict: ({ context }, error: unknown) => reasonOf(error) === 'Conflict' && context.failures < MAX_CONFLICTS,
  },
  actions: {
    keep: assign((_, lease: Lease) => ({ lease })),
    forget: assign({ lease: undefined }),
    succeed: assign({ failures: 0 }),
    tellFailure: ({ context }, error: unknown) => {
      const says = `lease of node ${context.nodeName} cannot be renewed`;
      tellLasting(context, { reason: 'NodeLeaseNotRenewed', says, op: 'lease', error });
    },
    fail: assign(({ context }) => ({ failures: context.failures + 1 })),
  },
}).createMachine({
  id: 'lease',
  meta: leaseWords,
  description: 'Renews the lease by which the control plane knows that the node is alive.',
  context: ({ input }) => ({ ...input, failures: 0 }),
  initial: 'gettingLease',
  states: {
    gettingLease: {
      description:
        'Looks for a lease that is there already, an earlier agent’s or one that was changed by another hand.',
      invoke: {
        src: 'getLease',
        input: ({ context: { nodeName } }) => ({ nodeName }),
        onDone: { target: 'updatingLease', actions: kept },
        onError: [
          {
            guard: withError('isNotFound'),
            target: 'creatingLease',
            actions: 'forget',
          },
          { target: 'waitingToRetry', actions: [told, 'fail'] },
        ],
      },
    },
    creatingLease: {
      description: 'Creates the lease, owned by the Node.',
      invoke: {
        src: 'createLease',
        input: ({ context }) => ({ lease: heldLease(context, undefined, context.env.now()) }),
        onDone: {
          target: 'waiting',
          actions: [kept, 'succeed'],
        },
        onError: [
          { guard: withError('alreadyExists'), target: 'gettingLease' },
          { target: 'waitingToRetry', actions: [told, 'fail'] },
        ],
      },
    },
    updatingLease: {
      description: 'Writes the time of renewal, and what else of the lease is not this node’s yet.',
      invoke: {
        src: 'updateLease',
        input: ({ context }) => ({ lease: heldLease(context, context.lease, context.env.now()) }),
        onDone: {
          target: 'waiting',
          actions: [kept, 'succeed'],
        },
        onError: [
          {
            guard: withError('isNotFound'),
            target: 'creatingLease',
            actions: 'forget',
          },
          {
            guard: withError('isConflict'),
            target: 'gettingLease',
            actions: [told, 'fail'],
          },
          { target: 'waitingToRetry', actions: [told, 'fail'] },
        ],
      },
    },
    waiting: {
      description: 'The lease is renewed; waits for a quarter of its duration.',
      after: { renewal: 'updatingLease' },
    },
    waitingToRetry: {
      description: 'The lease could not be written; waits before it is looked at again.',
      after: { retry: 'gettingLease' },
    },
  },
});
