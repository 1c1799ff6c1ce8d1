import { assign, setup } from 'xstate';
import type { AgentEnv, ParentRef } from '../agent.types.ts';
import { AgentError } from '../agent-error.types.ts';
import { happened } from '../notify.ts';
import { slot } from '../slot.types.ts';
import type { LogRotationSettings, LogRotationSlots } from './log-rotation.types.ts';

export interface LogRotationInput {
  env: AgentEnv;
  parent: ParentRef;
  settings: LogRotationSettings;
}

interface LogRotationContext extends LogRotationInput {
  /** Logs rotated since the start. */
  rotated: number;
  /** Logs that the last round could not rotate; each is told of when it begins to fail, not once a round. */
  failing: string[];
}

/** Stands in `failing` for a round that could not begin. */
const ALL = 'container logs';

const slots: LogRotationSlots = { rotateLogs: slot('rotateLogs') };

type Failure = { path: string; message: string };
const failureOf = (error: unknown): Failure[] => [{ path: ALL, message: AgentError.from(error, 'rotateLogs').message }];

/**
 * Looks at the containers' logs again and again and has those rotated that are too large
 * (logs/container_log_manager.go:Start). A round that takes longer than the period delays the next one.
 */
export const logRotationMachine = setup({
  types: { context: {} as LogRotationContext, input: {} as LogRotationInput },
  actors: { ...slots },
  delays: { period: ({ context }) => context.settings.periodMs },
  actions: {
    count: assign(({ context }, rotated: number) => ({ rotated: context.rotated + rotated })),
    tell: ({ context }, failed: Failure[]) => {
      for (const { path, message } of failed.filter((each) => !context.failing.includes(each.path)))
        happened(context.parent, {
          type: 'Warning',
          reason: 'LogRotationFailed',
          message: `${path} could not be rotated, which is tried again every ${context.settings.periodMs / 1000} s: ${message}`,
        });
    },
    note: assign((_, failed: Failure[]) => ({ failing: failed.map(({ path }) => path) })),
  },
}).createMachine({
  id: 'logRotation',
  description: 'Keeps the logs of running containers within their size and number.',
  context: ({ input }) => ({ ...input, rotated: 0, failing: [] }),
  initial: 'waiting',
  states: {
    waiting: {
      description: 'Waits for a period until the logs are looked at again.',
      after: { period: 'rotating' },
    },
    rotating: {
      description: 'Looks at the size of each running container’s log, and rotates those that have reached the limit.',
      invoke: {
        src: 'rotateLogs',
        input: ({ context: { settings } }) => {
          const { maxSizeBytes, maxFiles, maxWorkers } = settings;
          return { maxSizeBytes, maxFiles, maxWorkers };
        },
        onDone: {
          target: 'waiting',
          actions: [
            { type: 'count', params: ({ event }) => event.output.rotated.length },
            { type: 'tell', params: ({ event }) => event.output.failed },
            { type: 'note', params: ({ event }) => event.output.failed },
          ],
        },
        onError: {
          target: 'waiting',
          actions: [
            { type: 'tell', params: ({ event }) => failureOf(event.error) },
            { type: 'note', params: ({ event }) => failureOf(event.error) },
          ],
        },
      },
    },
  },
});
