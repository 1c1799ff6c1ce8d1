import { describe, expect, test } from '@jest/globals';
import type { AgentEnv, ParentRef } from '../../machines/agent.types.ts';
import type { Node } from '../../machines/kubernetes.types.ts';
import { nodeMachine } from '../../machines/node/node.machine.ts';
import type { NodeRequest, NodeSettings } from '../../machines/node/node.types.ts';
import { deferred, drive } from '../support/drive.ts';
import { apiNode, condition, hostFacts, nodeFacts, nodeSettings } from '../support/node-fixtures.ts';
import { emit, expectAllTransitionsWalked, fail, ok, oneAtATime, walk } from '../support/paths.ts';
import { nodeObject } from '../../machines/node/policy/node-object.ts';

const input =
  (over: Partial<NodeSettings> = {}) =>
  (world: { env: AgentEnv; parent: ParentRef }) => ({ ...world, nodeName: 'n1', settings: nodeSettings(over) });
const start = (over: Partial<NodeSettings> = {}) => drive(deferred(nodeMachine), { input: input(over) });
type Run = ReturnType<typeof start>;

const own = nodeObject('n1', hostFacts(), nodeSettings());
const node = (uid: string, readiness: string, over: Partial<Node> = {}) =>
  apiNode({
    ...own,
    metadata: { ...own.metadata, uid },
    status: { conditions: [condition('Ready', readiness)] },
    ...over,
  });
const [fresh, ready] = [node('node-1', 'False'), node('node-1', 'True')];
const bare = apiNode();
const away = fail('UNAVAILABLE');
const EFFECTS = ['readNodeFacts', 'createNode', 'getNode', 'patchNode'];
const seen = (which: Node, looked = false) => ({ type: 'node.seen', node: which, looked }) as const;
const known = (run: Run) => run.parent.ofType<{ type: string; uid: string }>('node.known').map(({ uid }) => uid);
const srcs = (run: Run) =>
  run
    .pending()
    .map(({ src }) => src)
    .sort();

function register(run: Run, as = fresh) {
  run.settle('readNodeFacts', ok(nodeFacts()));
  run.settle('createNode', ok(as));
}

describe('node', () => {
  test('every transition is walked; lease and status live just while the node is registered', () => {
    const report = walk(nodeMachine, {
      inputs: { 'registers itself': input(), 'is registered by others': input({ registerNode: false }) },
      events: (): NodeRequest[] => [
        { type: 'health.changed', health: 'healthy', message: '' },
        { type: 'pressure.changed', pressure: { memory: true, disk: false, pid: false } },
        { type: 'pods.changed' },
        { type: 'node.look' },
        { type: 'node.shutdown' },
        { type: 'node.shutdownCancelled' },
      ],
      outcomes: {
        readNodeFacts: [ok(nodeFacts()), away],
        createNode: [ok(fresh), fail('AlreadyExists'), fail('Forbidden'), away],
        getNode: [ok(ready), ok(bare), fail('NotFound'), away],
        patchNode: [ok(ready), away],
        nodeStatus: [
          emit(seen(ready), 'seen ready'),
          emit(seen(ready, true), 'looked'),
          emit(seen(fresh), 'seen not ready'),
          emit(seen(node('node-2', 'True')), 'seen another'),
          emit({ type: 'event.happened', event: { type: 'Normal', reason: 'NodeReady', message: '' } } as never),
          ok(undefined, 'absent'),
          fail('Bug'),
        ],
        lease: [fail('Bug')],
      },
      key: ({ context }) => [
        context.settings.registerNode,
        context.node?.metadata?.uid,
        context.situation.health,
        context.situation.pressure.memory,
        context.situation.shuttingDown,
        context.toldAbsent,
        context.found,
        context.lookAsked,
        Math.min(context.failures, 5),
      ],
      invariants: {
        'one effect': oneAtATime(EFFECTS),
        'children with the Node': (run) => {
          const children = run.pending().filter(({ src }) => src === 'nodeStatus' || src === 'lease').length;
          const expected = (run.snapshot as { matches(value: string): boolean }).matches('registered') ? 2 : 0;
          return children === expected ? undefined : `${children} children, expected ${expected}`;
        },
      },
      maxDepth: 8,
    });
    expectAllTransitionsWalked(report);
  });

  test('a Node is created with all that is known of it, and made known', () => {
    const run = start();
    register(run);
    const { node: wanted } = run.calls.find(({ src }) => src === 'createNode')!.input as { node: Node };
    expect(wanted.metadata?.labels?.['kubernetes.io/hostname']).toBe('n1');
    expect(wanted.status?.capacity?.['cpu']).toBe('4');
    expect(wanted.status?.conditions?.map(({ type }) => type)).toContain('Ready');
    expect(known(run)).toEqual(['node-1']);
    expect(srcs(run)).toEqual(['lease', 'nodeStatus']);
    expect(run.parent.events()[0]).toBe('Normal Starting Starting kubelet.');
  });

  test('what was found about the node when the agent started is told once', () => {
    const run = start({ notices: [{ type: 'Warning', reason: 'CgroupV1', message: 'cgroup v1 detected.' }] });
    register(run);
    expect(run.parent.events().slice(0, 2)).toEqual([
      'Normal Starting Starting kubelet.',
      'Warning CgroupV1 cgroup v1 detected.',
    ]);
    expect(run.parent.events().filter((each) => each.includes('CgroupV1'))).toHaveLength(1);
  });

  test('a runtime that was found healthy meanwhile makes the Node ready from its creation on', () => {
    const run = start();
    run.send({ type: 'health.changed', health: 'healthy', message: '' });
    run.settle('readNodeFacts', ok(nodeFacts()));
    const { node: wanted } = run.pending('createNode')[0]!.input as { node: Node };
    expect(wanted.status?.conditions?.at(-1)).toMatchObject({ type: 'Ready', status: 'True' });
  });

  test('a Node that is there is reconciled, its taints not', () => {
    const run = start({ taints: [{ key: 'k', effect: 'NoSchedule' }] });
    run.settle('readNodeFacts', ok(nodeFacts()));
    run.settle('createNode', fail('AlreadyExists'));
    run.settle('getNode', ok(bare));
    const { patch } = run.pending('patchNode')[0]!.input as { patch: object };
    expect(Object.keys(patch)).toEqual(['metadata']);
    run.settle('patchNode', ok(ready));
    expect(run.snapshot.matches({ registered: 'ready' })).toBe(true);
    expect(run.pending('nodeStatus')[0]?.input).toMatchObject({ found: true, node: ready });
  });

  test('a node that is not to register itself waits until somebody did; that there is none is told once', () => {
    const run = start({ registerNode: false });
    for (let tries = 0; tries < 3; tries += 1) {
      run.settle('readNodeFacts', ok(nodeFacts()));
      run.settle('getNode', fail('NotFound'));
      run.advance(run.untilTimer() ?? 0);
    }
    expect(run.parent.ofType('node.absent')).toHaveLength(1);
    run.settle('readNodeFacts', ok(nodeFacts()));
    run.settle('getNode', ok(ready));
    expect(known(run)).toEqual(['node-1']);
    expect(run.calls.some(({ src }) => src === 'createNode')).toBe(false);
  });

  test('an API server that is away is tried again for ever, and told of once', () => {
    const run = start();
    for (let tries = 0; tries < 20; tries += 1) {
      run.settle('readNodeFacts', ok(nodeFacts()));
      run.settle('createNode', away);
      expect(run.untilTimer()).toBeLessThanOrEqual(8400);
      run.advance(run.untilTimer() ?? 0);
    }
    expect(run.parent.events()).toEqual([
      'Normal Starting Starting kubelet.',
      'Warning NodeNotRegistered node n1 cannot be registered, which is tried again until it can: UNAVAILABLE happened',
    ]);
  });

  test('B156 a Node that is deleted is registered anew; the lease stops, and begins again owned by the new Node', () => {
    const run = start();
    register(run);
    run.settle('nodeStatus', ok());
    expect(run.parent.ofType('node.absent')).toHaveLength(1);
    expect(run.pending('lease')).toEqual([]);
    register(run, node('node-2', 'False'));
    expect(known(run)).toEqual(['node-1', 'node-2']);
    expect(run.pending('lease').map(({ input }) => (input as { nodeUid: string }).nodeUid)).toEqual(['node-2']);
  });

  test('B155 a lease begins only when the Node, its owner, is known', () => {
    const run = start();
    run.settle('readNodeFacts', ok(nodeFacts()));
    run.settle('createNode', away);
    expect(run.pending('lease')).toEqual([]);
    run.advance(run.untilTimer() ?? 0);
    register(run);
    expect(run.pending('lease')[0]?.input).toMatchObject({ nodeUid: 'node-1' });
  });

  test('a Node that was replaced by another one of its name is taken over', () => {
    const run = start();
    register(run);
    run.settle('nodeStatus', emit(seen(node('node-2', 'True'))));
    run.settle('readNodeFacts', ok(nodeFacts()));
    run.settle('createNode', fail('AlreadyExists'));
    run.settle('getNode', ok(node('node-2', 'True')));
    expect(known(run)).toEqual(['node-1', 'node-2']);
    expect(run.pending('lease')[0]?.input).toMatchObject({ nodeUid: 'node-2' });
  });

  test('of a Node that was seen only what others go by is told', () => {
    const run = start();
    register(run);
    run.settle('nodeStatus', emit(seen(ready)));
    expect(known(run)).toHaveLength(1);
    expect(run.snapshot.hasTag('ready')).toBe(true);
    run.settle('nodeStatus', emit(seen(node('node-1', 'True', { spec: { unschedulable: true } }))));
    expect(known(run)).toHaveLength(2);
  });

  test('a look that was asked for is answered once, though nothing of the Node changed', () => {
    const run = start();
    register(run);
    run.settle('nodeStatus', emit(seen(fresh, true)));
    run.send({ type: 'node.look' });
    run.settle('nodeStatus', emit(seen(fresh)));
    run.settle('nodeStatus', emit(seen(fresh, true)));
    run.settle('nodeStatus', emit(seen(fresh, true)));
    expect(run.parent.ofType<{ type: string; looked?: true }>('node.known').map(({ looked }) => looked)).toEqual([
      true,
      true,
    ]);
  });

  test('a look that is asked for before there is a Node is answered by its registration', () => {
    const run = start();
    run.send({ type: 'node.look' });
    register(run);
    run.settle('nodeStatus', emit(seen(fresh, true)));
    expect(known(run)).toHaveLength(1);
  });

  test('a host that shuts down has its node told not ready; one that does not after all goes on', () => {
    const run = start();
    register(run, ready);
    run.send({ type: 'node.shutdown' });
    expect(run.snapshot.matches({ registered: { shuttingDown: 'ready' } })).toBe(true);
    run.settle('nodeStatus', emit(seen(fresh)));
    expect(run.snapshot.matches({ registered: { shuttingDown: 'notReady' } })).toBe(true);
    expect(srcs(run)).toEqual(['lease', 'nodeStatus']);
    run.send({ type: 'node.shutdownCancelled' });
    run.settle('nodeStatus', emit(seen(ready)));
    expect(run.snapshot.matches({ registered: 'ready' })).toBe(true);
  });

  test('a Node that is deleted while the host shuts down is not registered again', () => {
    const run = start();
    register(run);
    run.send({ type: 'node.shutdown' });
    run.settle('nodeStatus', ok());
    expect(run.snapshot.matches('deregistered')).toBe(true);
    expect(run.pending()).toEqual([]);
    run.send({ type: 'node.shutdownCancelled' });
    expect(srcs(run)).toEqual(['readNodeFacts']);
  });

  test('lease or status that broke harm no more: both begin anew from what there is', () => {
    for (const broken of ['lease', 'nodeStatus']) {
      const run = start();
      register(run);
      run.settle(broken, fail('Bug'));
      expect(srcs(run)).toEqual([]);
      run.advance(run.untilTimer() ?? 0);
      register(run);
      expect(srcs(run)).toEqual(['lease', 'nodeStatus']);
    }
  });

  test('what happens in the children is passed up', () => {
    const run = start();
    register(run);
    const event = { type: 'Warning', reason: 'NodeLeaseNotRenewed', message: 'x' };
    run.settle('lease', emit({ type: 'event.happened', event } as never));
    expect(run.parent.events().at(-1)).toBe('Warning NodeLeaseNotRenewed x');
  });
});
