import { initialContext } from './pod.context.ts';
import { terminated, terminating } from './pod.ending.ts';
import { podSetup } from './pod.setup.ts';
import { syncing } from './pod.syncing.ts';
import { podWords } from './words.ts';

export const podMachine = podSetup.createMachine({
  id: 'pod',
  meta: podWords,
  description: 'One pod on this node, from the first sight of it to the last trace of it.',
  context: ({ input }) => initialContext(input),
  initial: 'pending',
  entry: 'replan',
  on: {
    'pod.desired': { actions: ['learn', 'replan', 'tellVolumes'] },
    'pod.terminate': { actions: ['learn', 'replan'] },
    'pod.removed': { actions: ['learn', 'replan'] },
    'pod.observed': { actions: ['learn', 'replan'] },
    'container.exited': { actions: ['learn', 'replan'] },
    'predecessor.gone': { actions: 'learn' },
    'network.ready': { actions: 'learn' },
    'node.addressed': { actions: ['learn', 'replan'] },
    'container.changed': { actions: ['learn', 'replan'] },
    'container.probed': { actions: ['learn', 'replan'] },
    'volume.changed': { actions: 'learn' },
    'object.changed': { actions: 'passObjectChange' },
    'event.happened': { actions: 'forward' },
    'xstate.error.actor.volume.*': { actions: ['learn', 'mourn'] },
    'xstate.error.actor.container.*': { actions: ['learn', 'mourn'] },
    'child.respawn': { actions: ['learn', 'makeVolumes', 'replan'] },
  },
  states: {
    pending: {
      description: 'Nothing of the pod was started by this process yet.',
      initial: 'deciding',
      states: {
        deciding: {
          description:
            'Chooses by what is desired and what the runtime has, the same after a start as after a restart.',
          always: [
            { guard: 'mustEnd', target: '#pod.terminating' },
            { guard: 'hasEnded', target: '#pod.terminating', actions: 'end' },
            { guard: 'hasPredecessor', target: 'waitingForPredecessor' },
            { target: '#pod.syncing' },
          ],
        },
        waitingForPredecessor: {
          meta: { awaits: ['predecessor.gone'] },
          description: 'Another pod of the same name has not ended yet; two never run at once.',
          always: { guard: 'mustEnd', target: '#pod.terminating' },
          on: { 'predecessor.gone': { target: 'deciding', actions: 'learn' } },
        },
      },
    },
    syncing,
    terminating,
    terminated,
    gone: { description: 'The actor has nothing more to do.', type: 'final' },
  },
});
