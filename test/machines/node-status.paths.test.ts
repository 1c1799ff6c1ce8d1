import { describe, expect, test } from '@jest/globals';
import type { AgentEnv, ParentRef } from '../../machines/agent.types.ts';
import type { Node } from '../../machines/kubernetes.types.ts';
import { nodeStatusMachine } from '../../machines/node/node-status.machine.ts';
import type { NodeStatusRequest } from '../../machines/node/node-status.types.ts';
import type { NodePatch, NodeSituation } from '../../machines/node/node.types.ts';
import { nodeObject } from '../../machines/node/policy/node-object.ts';
import { conditionOf } from '../../machines/node/policy/node-conditions.ts';
import { nodeStatus } from '../../machines/node/policy/node-status.ts';
import { deferred, drive } from '../support/drive.ts';
import { T0 } from '../support/fixtures.ts';
import { apiNode, condition, hostFacts, nodeFacts, nodeSettings, situation } from '../support/node-fixtures.ts';
import { expectAllTransitionsWalked, fail, ok, oneAtATime, walk } from '../support/paths.ts';

const unknown = situation({ health: 'unknown', awaySince: 0 });
const statusOf = (over: Partial<Parameters<typeof nodeStatus>[0]> = {}) =>
  nodeStatus({
    facts: nodeFacts(),
    settings: nodeSettings(),
    situation: unknown,
    awayMs: 0,
    existing: undefined,
    resetExtended: false,
    now: T0,
    ...over,
  });
const created = apiNode({ ...nodeObject('n1', hostFacts(), nodeSettings()), status: statusOf() });
created.metadata!.uid = 'node-1';
const readyNode = apiNode({ status: statusOf({ situation: situation() }) });
const withCIDR = apiNode({ ...readyNode, spec: { podCIDRs: ['10.1.0.0/24', 'fd00:1::/64'] } });

const input =
  (over: { node?: Node; found?: boolean; situation?: NodeSituation } = {}) =>
  (world: { env: AgentEnv; parent: ParentRef }) => ({
    ...world,
    nodeName: 'n1',
    settings: nodeSettings(),
    node: created,
    facts: nodeFacts(),
    situation: unknown,
    found: false,
    ...over,
  });
const start = (over: Parameters<typeof input>[0] = {}) => drive(deferred(nodeStatusMachine), { input: input(over) });
type Run = ReturnType<typeof start>;
const patches = (run: Run) =>
  run.calls.filter(({ src }) => src === 'patchNodeStatus').map(({ input }) => (input as { patch: NodePatch }).patch);
const readiness = (patch: NodePatch | undefined) => conditionOf(patch?.status?.conditions as never, 'Ready')?.status;
const change = (over: Parameters<typeof situation>[0] = {}) =>
  ({ type: 'situation.changed', situation: situation(over) }) as const;
const away = fail('UNAVAILABLE');
const PERIOD = 10_200;
/** One look that finds the Node as it is given. */
function look(run: Run, node: Node, facts = nodeFacts()) {
  run.settle('readNodeFacts', ok(facts));
  run.settle('getNode', ok(node));
}

describe('nodeStatus', () => {
  test('every transition is walked, one effect at a time', () => {
    const report = walk(nodeStatusMachine, {
      inputs: { created: input(), found: input({ found: true, node: readyNode }) },
      events: (run): NodeStatusRequest[] => [
        change(),
        change({ shuttingDown: run.steps % 2 === 0 }),
        { type: 'images.changed' },
        { type: 'node.look' },
      ],
      outcomes: {
        readNodeFacts: [ok(nodeFacts()), away],
        getNode: [ok(readyNode), ok(withCIDR), fail('NotFound'), away],
        patchNodeStatus: [ok(readyNode), fail('NotFound'), fail('Conflict'), away],
        updateRuntimeConfig: [ok(), away],
      },
      key: ({ context: { plan, isDue, isLookDue, failures, found, podCIDR } }) => [
        podCIDR,
        plan?.patch !== undefined,
        isDue,
        isLookDue,
        found,
        Math.min(failures, 5),
      ],
      invariants: { 'one effect': oneAtATime(['readNodeFacts', 'getNode', 'patchNodeStatus', 'updateRuntimeConfig']) },
      maxDepth: 12,
    });
    expectAllTransitionsWalked(report);
  });

  test('a Node that was just created is not written again before something changed', () => {
    const run = start();
    expect(run.calls).toEqual([]);
    expect(run.untilTimer()).toBe(PERIOD);
  });

  test('a node that gets ready is told so at once', () => {
    const run = start();
    run.send(change());
    expect(readiness(patches(run)[0])).toBe('True');
    run.settle('patchNodeStatus', ok(readyNode));
    expect(run.parent.events()).toEqual(['Normal NodeReady Node n1 status is now: NodeReady']);
    expect(run.parent.ofType<{ type: string; node: Node }>('node.seen').map(({ node }) => node)).toEqual([readyNode]);
  });

  test('B158 a node that an earlier agent left ready is not made NotReady while its runtime has not been asked', () => {
    const run = start({ node: readyNode, found: true });
    expect(readiness(patches(run)[0])).toBe('True');
    run.settle('patchNodeStatus', ok(readyNode));
    expect(run.parent.events()).toEqual([]);
  });

  test('a Node that was found has its first report at once', () => {
    const run = start({ node: readyNode, found: true });
    expect(Object.keys(patches(run)[0]?.status ?? {})).toEqual(['conditions']);
  });

  test('a runtime that is away for 30 s makes the node NotReady, and no sooner', () => {
    const run = start({ node: readyNode });
    run.send(change({ health: 'unhealthy', message: 'connection refused', awaySince: 0 }));
    for (let tick = 1; tick <= 2; tick += 1) {
      run.advance(PERIOD);
      look(run, readyNode, nodeFacts({ runtime: undefined }));
      if (run.pending('patchNodeStatus').length > 0) {
        expect(readiness(patches(run).at(-1))).not.toBe('False');
        run.settle(
          'patchNodeStatus',
          ok(
            apiNode({
              status: statusOf({
                situation: situation(),
                facts: nodeFacts({ runtime: undefined }),
                existing: readyNode.status,
              }),
            }),
          ),
        );
      }
    }
    run.advance(PERIOD);
    look(run, readyNode, nodeFacts({ runtime: undefined }));
    expect(readiness(patches(run).at(-1))).toBe('False');
  });

  test('what changes while a write is in flight is written after it', () => {
    const run = start();
    run.send(change());
    run.send(change({ pressure: { memory: true, disk: false, pid: false } }));
    expect(patches(run)).toHaveLength(1);
    run.settle('patchNodeStatus', ok(readyNode));
    expect(conditionOf(patches(run)[1]?.status?.conditions as never, 'MemoryPressure')?.status).toBe('True');
  });

  test('with no change nothing but the report each five minutes is written', () => {
    const run = start({ node: readyNode, situation: situation() });
    for (let tick = 0; tick < 29; tick += 1) {
      run.advance(PERIOD);
      look(run, readyNode);
    }
    expect(patches(run)).toEqual([]);
    run.advance(PERIOD);
    look(run, readyNode);
    expect(patches(run)).toHaveLength(1);
  });

  test('images are listed when pods came or went, and else each five minutes', () => {
    const run = start({ node: readyNode });
    const asked = () => run.calls.filter(({ src }) => src === 'readNodeFacts').map(({ input }) => input);
    run.advance(PERIOD);
    look(run, readyNode);
    run.send({ type: 'images.changed' });
    run.advance(PERIOD);
    look(run, readyNode);
    run.advance(PERIOD);
    expect(asked()).toEqual([{ images: false }, { images: true }, { images: false }]);
  });

  test('a cordon is told of when it is seen', () => {
    const run = start({ node: readyNode });
    const cordoned = apiNode({ ...readyNode, spec: { unschedulable: true } });
    for (const seen of [cordoned, cordoned, readyNode]) {
      run.send({ type: 'node.look' });
      run.settle('getNode', ok(seen));
    }
    expect(run.parent.events()).toEqual([
      'Normal NodeNotSchedulable Node n1 status is now: NodeNotSchedulable',
      'Normal NodeSchedulable Node n1 status is now: NodeSchedulable',
    ]);
  });

  test('a cordon of the time before the agent started is told of once, an uncordon of then is not', () => {
    const cordoned = apiNode({ ...readyNode, spec: { unschedulable: true } });
    for (const [node, told] of [
      [cordoned, ['Normal NodeNotSchedulable Node n1 status is now: NodeNotSchedulable']],
      [readyNode, []],
    ] as const) {
      const run = start({ node });
      for (let looks = 0; looks < 2; looks += 1) {
        run.send({ type: 'node.look' });
        run.settle('getNode', ok(node));
      }
      expect(run.parent.events()).toEqual(told);
    }
  });

  test('a look answers only what was asked before it began; a write answers nothing', () => {
    const run = start();
    const looked = () => run.parent.ofType<{ type: string; looked: boolean }>('node.seen').map((each) => each.looked);
    run.send(change());
    run.send({ type: 'node.look' });
    run.settle('patchNodeStatus', ok(readyNode));
    run.send({ type: 'node.look' });
    run.settle('getNode', ok(readyNode));
    run.settle('getNode', away);
    run.advance(run.untilTimer() ?? 0);
    look(run, readyNode);
    expect(looked()).toEqual([false, false, true]);
  });

  test('the runtime is told the addresses that the cluster has given to the node’s pods, once and when they change', () => {
    const run = start({ node: withCIDR, situation: situation() });
    const toldCIDRs = () => run.calls.filter(({ src }) => src === 'updateRuntimeConfig').map(({ input }) => input);
    run.settle('updateRuntimeConfig', ok());
    run.advance(PERIOD);
    look(run, withCIDR);
    run.advance(PERIOD);
    look(run, apiNode({ ...readyNode, spec: { podCIDR: '10.2.0.0/24' } }));
    expect(toldCIDRs()).toEqual([{ podCIDR: '10.1.0.0/24,fd00:1::/64' }, { podCIDR: '10.2.0.0/24' }]);
  });

  test('a runtime that does not take them is told again each period, and holds up no status', () => {
    const run = start({ node: withCIDR, situation: situation() });
    for (let tick = 0; tick < 3; tick += 1) {
      run.settle('updateRuntimeConfig', away);
      expect(run.pending()).toEqual([]);
      run.advance(PERIOD);
      look(run, withCIDR);
    }
    expect(run.pending('updateRuntimeConfig')).toHaveLength(1);
    expect(run.parent.events()).toEqual([
      'Warning PodCIDRNotUpdated the runtime does not take the pod CIDR 10.1.0.0/24,fd00:1::/64, which is tried again: UNAVAILABLE happened',
    ]);
  });

  test('a new boot is told of once it is written', () => {
    const run = start({
      node: apiNode({
        status: { ...readyNode.status, nodeInfo: { ...readyNode.status!.nodeInfo!, bootID: 'boot-0' } },
      }),
      found: true,
    });
    run.settle('patchNodeStatus', ok(readyNode));
    expect(run.parent.events()).toEqual(['Warning Rebooted Node n1 has been rebooted, boot id: boot-1']);
  });

  test('B162 an address that changed is written, in place of the old one', () => {
    const run = start({ node: readyNode });
    run.advance(PERIOD);
    look(run, readyNode, nodeFacts({}, { nodeIPs: ['192.0.2.77'] }));
    expect(patches(run)[0]?.status?.addresses).toEqual([
      { type: 'InternalIP', address: '192.0.2.77' },
      { type: 'Hostname', address: 'n1' },
      { $patch: 'replace' },
    ]);
  });

  test('a Node of the same name and another UID is never written: the next look shows it', () => {
    const run = start();
    run.send(change());
    expect(patches(run)[0]?.metadata.uid).toBe('node-1');
    run.settle('patchNodeStatus', fail('Conflict'));
    run.advance(run.untilTimer() ?? 0);
    look(run, apiNode({ metadata: { uid: 'node-2' } }));
    expect(run.parent.ofType<{ type: string; node: Node }>('node.seen')[0]?.node.metadata?.uid).toBe('node-2');
  });

  test('B156 it ends where there is no Node any more', () => {
    const run = start();
    run.advance(PERIOD);
    run.settle('readNodeFacts', ok(nodeFacts()));
    run.settle('getNode', fail('NotFound'));
    expect(run.snapshot.status).toBe('done');
  });

  test('an outage of the API server is told of once, and what is true at its end is written', () => {
    const run = start();
    run.send(change());
    run.settle('patchNodeStatus', away);
    for (let retry = 0; retry < 20; retry += 1) {
      run.advance(run.untilTimer() ?? 0);
      run.settle('readNodeFacts', ok(nodeFacts()));
      run.settle('getNode', away);
    }
    run.send(change({ shuttingDown: true }));
    run.advance(run.untilTimer() ?? 0);
    look(run, created);
    run.settle('patchNodeStatus', ok(apiNode({ status: { conditions: [condition('Ready', 'False')] } })));
    expect(run.parent.events()).toEqual([
      'Warning NodeStatusNotUpdated status of node n1 cannot be updated, which is tried again until it can: UNAVAILABLE happened',
    ]);
    expect(readiness(patches(run).at(-1))).toBe('False');
  });

  test('extended resources of an earlier process are set to zero once', () => {
    const had = apiNode({
      status: { ...readyNode.status, capacity: { ...readyNode.status?.capacity, 'example.com/gpu': '2' } },
    });
    const run = start({ node: had, found: true });
    expect(patches(run)[0]?.status).toMatchObject({
      capacity: { 'example.com/gpu': '0' },
      allocatable: { 'example.com/gpu': '0' },
    });
    run.settle('patchNodeStatus', ok(had));
    run.advance(PERIOD);
    look(run, had);
    expect(patches(run)[1]?.status).toMatchObject({ allocatable: { 'example.com/gpu': '2' } });
  });
});
