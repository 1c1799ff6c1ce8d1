import { assign, enqueueActions, setup } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { RecordedEvent } from '../agent.types.ts';
import { happened } from '../notify.ts';
import { slot } from '../slot.types.ts';
import type { ImagePresent, ImagePullInput, ImagePullSlots, ImageWaiting } from './image-pull.types.ts';
import { goDuration } from './policy/duration.ts';
import { imageBackoffRemaining, nextImageBackoff } from './policy/image-backoff.ts';
import { normalizeImageName, pullDecision } from './policy/image-policy.ts';
import { withError } from '../with-error.ts';
import { imagePullWords } from './words.ts';

interface ImagePullContext extends ImagePullInput {
  /** The image as the runtime is asked for it; undefined where the name cannot be read, which `nameProblem` tells. */
  reference?: string;
  nameProblem: string;
  imageRef: string;
  askedAt: number;
  pullingSince: number;
}

interface Found {
  imageRef: string;
  sizeBytes: number;
}

const slots: ImagePullSlots = {
  inspectImage: slot('inspectImage'),
  takePullTurn: slot('takePullTurn'),
  pullImage: slot('pullImage'),
};

/** How long the error itself is shown before the back-off's text takes its place, ms. */
const SHOW_ERROR_MS = 1_000;
/** Wait before an image that could not be had without a pull is looked for again, ms (kubelet.go:backOffPeriod). */
const LOOK_AGAIN_MS = 10_000;
/** Reasons that a runtime's answer to PullImage may carry; any other is ErrImagePull. */
const PULL_REASONS = ['RegistryUnavailable', 'SignatureValidationFailed'];

const quoted = ({ image }: ImagePullContext) => JSON.stringify(image);
const decision = (context: ImagePullContext, found: Found | undefined) =>
  pullDecision(context.imagePullPolicy, found !== undefined);
const remaining = (context: ImagePullContext) => imageBackoffRemaining(context.backoff, context.env.elapsed());
const messageOf = (error: unknown, op: string) => AgentError.from(error, op).message;

function record(context: ImagePullContext, type: RecordedEvent['type'], reason: string, message: string): void {
  const { name, namespace, uid } = context.pod.metadata;
  happened(context.parent, { type, reason, message, pod: { name, namespace, uid }, fieldPath: context.fieldPath });
}

/** Tells the container why there is no image, and users that its start failed for that. */
function wait(context: ImagePullContext, reason: string, message: string): void {
  const waiting: ImageWaiting = { type: 'image.waiting', reason, message, backoff: context.backoff };
  context.parent.send(waiting);
  record(context, 'Warning', 'Failed', `Error: ${reason}`);
}

const imagePullSetup = setup({
  types: {
    context: {} as ImagePullContext,
    input: {} as ImagePullInput,
    output: {} as ImagePresent,
  },
  actors: { ...slots },
  delays: { showError: SHOW_ERROR_MS, pullBackoff: ({ context }) => remaining(context), lookAgain: LOOK_AGAIN_MS },
  guards: {
    hasBadName: ({ context }) => context.reference === undefined,
    isUsable: ({ context }, found: Found | undefined) => decision(context, found) === 'use',
    isNeverPulled: ({ context }, found: Found | undefined) => decision(context, found) === 'neverPull',
    mustBackOff: ({ context }) => remaining(context) > 0,
  },
  actions: {
    usePresent: enqueueActions(({ context, enqueue }, found: Found | undefined) => {
      enqueue.assign({ imageRef: found?.imageRef ?? '' });
      const message = `Container image ${quoted(context)} already present on machine`;
      enqueue(() => record(context, 'Normal', 'Pulled', message));
    }),
    usePulled: enqueueActions(({ context, enqueue }, { imageRef, sizeBytes }: Found) => {
      enqueue.assign({ imageRef });
      const now = context.env.elapsed();
      const took = `${goDuration(now - context.pullingSince)} (${goDuration(now - context.askedAt)} including waiting)`;
      const message = `Successfully pulled image ${quoted(context)} in ${took}. Image size: ${sizeBytes} bytes.`;
      enqueue(() => record(context, 'Normal', 'Pulled', message));
    }),
    ask: assign(({ context }) => ({ askedAt: context.env.elapsed() })),
    pull: enqueueActions(({ context, enqueue }) => {
      enqueue.assign({ pullingSince: context.env.elapsed() });
      enqueue(() => record(context, 'Normal', 'Pulling', `Pulling image ${quoted(context)}`));
    }),
    failPull: enqueueActions(({ context, enqueue }, error: unknown) => {
      const failure = AgentError.from(error, 'PullImage');
      enqueue.assign({ backoff: nextImageBackoff(context.backoff, context.env.elapsed(), failure.message) });
      const message = `Failed to pull image ${quoted(context)}: ${failure.message}`;
      enqueue(() => record(context, 'Warning', 'Failed', message));
      const reason = PULL_REASONS.includes(failure.reason) ? failure.reason : 'ErrImagePull';
      enqueue(({ context: after }) => wait(after, reason, failure.message));
    }),
    backOff: enqueueActions(({ context, enqueue }) => {
      const text = `Back-off pulling image ${quoted(context)}`;
      enqueue(() => record(context, 'Normal', 'BackOff', text));
      const message = context.backoff?.message ? `${text}: ${context.backoff.message}` : text;
      enqueue(({ context: after }) => wait(after, 'ImagePullBackOff', message));
    }),
    fail: enqueueActions(
      ({ context, enqueue }, { reason, event, message }: { reason: string; event: string; message: string }) => {
        enqueue(() => record(context, 'Warning', event, message));
        enqueue(({ context: after }) => wait(after, reason, message));
      },
    ),
  },
});

/**
 * Gets the image of one container onto the node, as its pull policy says (image_manager.go:EnsureImageExists). Ends with
 * the image's reference; until then it tells its parent why it waits. It may be stopped at any moment.
 */
export const imagePullMachine = imagePullSetup.createMachine({
  id: 'imagePull',
  meta: imagePullWords,
  description: 'Makes the image of one container present on the node, as the pull policy says.',
  context: ({ input }) => {
    const name = normalizeImageName(input.image);
    return {
      ...input,
      reference: name.ok ? name.image : undefined,
      nameProblem: name.ok ? '' : name.message,
      imageRef: '',
      askedAt: input.env.elapsed(),
      pullingSince: input.env.elapsed(),
    };
  },
  output: ({ context }) => ({ imageRef: context.imageRef }),
  initial: 'deciding',
  states: {
    deciding: {
      description: 'Finds whether the name of the image can be read.',
      always: [{ guard: 'hasBadName', target: 'InvalidImageName' }, { target: 'checking' }],
    },
    checking: {
      description: 'The runtime is asked whether it has the image.',
      invoke: {
        src: 'inspectImage',
        input: ({ context }) => ({ image: context.reference ?? '' }),
        onDone: [
          {
            guard: { type: 'isUsable', params: ({ event }) => event.output },
            target: 'present',
            actions: { type: 'usePresent', params: ({ event }) => event.output },
          },
          { guard: { type: 'isNeverPulled', params: ({ event }) => event.output }, target: 'ErrImageNeverPull' },
          { guard: 'mustBackOff', target: 'ImagePullBackOff' },
          { target: 'queueing' },
        ],
        onError: {
          target: 'ImageInspectError',
          actions: {
            type: 'fail',
            params: ({ context, event }) => ({
              reason: 'ImageInspectError',
              event: 'InspectFailed',
              message: `Failed to inspect image ${quoted(context)}: ${messageOf(event.error, 'ImageStatus')}`,
            }),
          },
        },
      },
    },
    queueing: {
      description: 'Waits for its turn among the pulls of the node.',
      entry: 'ask',
      invoke: {
        src: 'takePullTurn',
        input: ({ context }) => ({ image: context.reference ?? '', podUid: context.pod.metadata.uid }),
        onDone: { target: 'pulling' },
        onError: { target: 'ErrImagePull', actions: withError('failPull') },
      },
    },
    pulling: {
      description: 'The runtime pulls the image.',
      entry: 'pull',
      invoke: {
        src: 'pullImage',
        input: ({ context }) => ({ pod: context.pod, image: context.reference ?? '' }),
        onDone: { target: 'present', actions: { type: 'usePulled', params: ({ event }) => event.output } },
        onError: { target: 'ErrImagePull', actions: withError('failPull') },
      },
    },
    present: { type: 'final', description: 'The image is on the node.' },
    ErrImagePull: {
      description: 'A pull failed just now.',
      after: { showError: 'ImagePullBackOff' },
    },
    ImagePullBackOff: {
      description: 'The next pull follows when the back-off after the last failed one is over.',
      entry: 'backOff',
      after: { pullBackoff: 'checking' },
    },
    ErrImageNeverPull: {
      description: 'The image is not on the node, and its pull policy forbids to pull it.',
      entry: {
        type: 'fail',
        params: ({ context }) => ({
          reason: 'ErrImageNeverPull',
          event: 'ErrImageNeverPull',
          message: `Container image ${quoted(context)} is not present with pull policy of Never`,
        }),
      },
      after: { lookAgain: 'checking' },
    },
    ImageInspectError: {
      description: 'The runtime could not say whether it has the image.',
      after: { lookAgain: 'checking' },
    },
    InvalidImageName: {
      description: 'The name of the image cannot be read; only another name can help.',
      entry: {
        type: 'fail',
        params: ({ context }) => ({
          reason: 'InvalidImageName',
          event: 'InspectFailed',
          message: context.nameProblem,
        }),
      },
    },
  },
});
