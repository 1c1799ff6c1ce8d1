import { and, assign, enqueueActions, setup } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import { happened } from '../notify.ts';
import { slot } from '../slot.types.ts';
import { withError } from '../with-error.ts';
import { sameJson } from './policy/same-json.ts';
import { showsMetadata } from './policy/volume-content.ts';
import type { VolumeEvent, VolumeInput, VolumeReport, VolumeSlots } from './volume.types.ts';
import { volumeWords } from './words.ts';

interface VolumeContext extends VolumeInput {
  mounted: boolean;
  /** What it shows has changed since the last effect began. */
  stale: boolean;
  held: boolean;
  /** Ms after the last refresh at which the next one is due; undefined: when somebody tells. */
  refreshAfterMs?: number;
  /** Effects that failed in a row. */
  failures: number;
  /** What the last failed one said, until one succeeds. */
  failure?: string;
}

/** Wait after a failure, ms, doubling (pkg/util/goroutinemap/exponentialbackoff). */
const FIRST_RETRY = 500;
const LONGEST_RETRY = 122_000;
/** Of a volume that nothing makes old, ms: a hundred years, that no node lives. */
const NEVER = 3_153_600_000_000;

const slots: VolumeSlots = { mountVolume: slot('mountVolume') };

function tell({ parent, volume, mounted }: VolumeContext, busy: boolean): void {
  parent.send({ type: 'volume.changed', name: volume.name, mounted, busy } satisfies VolumeReport);
}

/** Labels and annotations, where the volume shows them. */
const shown = ({ volume, pod: { metadata } }: Pick<VolumeContext, 'volume' | 'pod'>) =>
  showsMetadata(volume) ? { labels: metadata.labels, annotations: metadata.annotations } : undefined;

/** One volume of a pod: mounted before the pod's containers start, and kept as new as what it shows. */
export const volumeMachine = setup({
  types: { context: {} as VolumeContext, input: {} as VolumeInput, events: {} as VolumeEvent },
  actors: { ...slots },
  delays: {
    retry: ({ context }) => Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** Math.min(context.failures - 1, 10)),
    refresh: ({ context: { refreshAfterMs = NEVER, refreshPeriodMs = NEVER } }) =>
      Math.min(refreshAfterMs, refreshPeriodMs),
  },
  guards: {
    isHeld: ({ context }) => context.held,
    isStale: ({ context }) => context.stale,
    wasMounted: ({ context }) => context.mounted,
  },
  actions: {
    learn: assign(({ context, event }) => {
      if (event.type === 'volume.stale') return { stale: true };
      if (event.type === 'volume.hold') return { held: true };
      const { pod } = event;
      return { pod, stale: context.stale || !sameJson(shown({ ...context, pod }), shown(context)) };
    }),
    begin: enqueueActions(({ context, enqueue }) => {
      enqueue.assign({ stale: false });
      enqueue(() => tell(context, true));
    }),
    succeed: enqueueActions(({ enqueue }, refreshAfterMs: number | undefined) => {
      enqueue.assign({ mounted: true, failures: 0, failure: undefined, refreshAfterMs });
      enqueue(({ context: after }) => tell(after, false));
    }),
    fail: enqueueActions(({ context, enqueue }, error: unknown) => {
      const { message } = AgentError.from(error, 'mount volume');
      const { name, namespace, uid } = context.pod.metadata;
      enqueue.assign({ failures: context.failures + 1, failure: message });
      enqueue(({ context: after }) => tell(after, false));
      // Of a pod that ends, nobody is to look for what is wrong (B113).
      if (context.held) return;
      enqueue(() =>
        happened(context.parent, {
          type: 'Warning',
          reason: 'FailedMount',
          message,
          pod: { name, namespace, uid },
        }),
      );
    }),
  },
}).createMachine({
  id: 'volume',
  meta: volumeWords,
  description: 'One volume of a pod: mounted before the containers start, and kept as new as what it shows.',
  context: ({ input }) => ({ ...input, mounted: false, stale: false, held: false, failures: 0 }),
  initial: 'mounting',
  on: {
    'volume.desired': { actions: 'learn' },
    'volume.stale': { actions: 'learn' },
    'volume.hold': { actions: 'learn' },
  },
  states: {
    mounting: {
      description: 'The volume is made ready to be bound into containers.',
      entry: 'begin',
      invoke: {
        src: 'mountVolume',
        input: ({ context: { pod, volume } }) => ({ pod, volume }),
        onDone: {
          target: 'deciding',
          actions: { type: 'succeed', params: ({ event }) => event.output.refreshAfterMs },
        },
        onError: { target: 'backoff', actions: withError('fail') },
      },
    },
    deciding: {
      description: 'Finds whether what was just written is still what is to be shown.',
      always: [{ guard: 'isHeld', target: 'held' }, { guard: 'isStale', target: 'refreshing' }, { target: 'mounted' }],
    },
    mounted: {
      description: 'It is mounted and shows what it is to show, until that changes or a token in it gets old.',
      always: [
        { guard: 'isHeld', target: 'held' },
        { guard: 'isStale', target: 'refreshing' },
      ],
      after: { refresh: 'refreshing' },
    },
    refreshing: {
      description: 'What it shows is read anew, and switched as one where it differs.',
      entry: 'begin',
      invoke: {
        src: 'mountVolume',
        input: ({ context: { pod, volume } }) => ({ pod, volume }),
        onDone: {
          target: 'deciding',
          actions: { type: 'succeed', params: ({ event }) => event.output.refreshAfterMs },
        },
        onError: { target: 'backoff', actions: withError('fail') },
      },
    },
    backoff: {
      description: 'The last try failed; what was mounted before stays, and the next try follows after a wait.',
      always: [
        { guard: 'isHeld', target: 'held' },
        { guard: and(['isStale', 'wasMounted']), target: 'refreshing' },
        { guard: 'isStale', target: 'mounting' },
      ],
      after: { retry: [{ guard: 'wasMounted', target: 'refreshing' }, { target: 'mounting' }] },
    },
    held: {
      description: 'The pod ends: its containers may still use the volume, and nothing of it is changed any more.',
    },
  },
});
