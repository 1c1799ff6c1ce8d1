import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import { nodeN1, openRig, podOf } from './rig.ts';
import type { Rig } from './rig.ts';

const PODS = '/api/v1/namespaces/default/pods';
const SMP = 'application/strategic-merge-patch+json';
const NODE_PODS = '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({ bookmarkMs: 50 });
  await rig.call('node', 'POST', '/api/v1/nodes', nodeN1);
});
afterAll(() => rig.close());

const makePod = async (name: string, spec: object = {}) =>
  (await rig.call('admin', 'POST', PODS, podOf(name, spec))).body.metadata;
const patchStatus = (name: string, status: object, metadata: object = {}) =>
  rig.call('node', 'PATCH', `${PODS}/${name}/status`, { metadata, status }, SMP);

describe('writing', () => {
  test('a status patch with the UID of another pod is refused, one that changes nothing writes nothing', async () => {
    const made = await makePod('status');
    const written = await patchStatus('status', { phase: 'Running' }, { uid: made?.uid });
    expect(written.code).toBe(200);
    const again = await patchStatus('status', { phase: 'Running' }, { uid: made?.uid });
    expect(again.body.metadata?.resourceVersion).toBe(written.body.metadata?.resourceVersion);
    const other = await patchStatus('status', { phase: 'Failed' }, { uid: 'other' });
    expect(other).toMatchObject({
      code: 422,
      body: { reason: 'Invalid', details: { causes: [{ field: 'metadata.uid' }] } },
    });
  });

  test('the status subresource leaves the spec, the object leaves the status', async () => {
    await makePod('apart');
    await rig.call(
      'node',
      'PATCH',
      `${PODS}/apart/status`,
      { spec: { hostNetwork: true }, status: { phase: 'Running' } },
      SMP,
    );
    const { body } = await rig.call(
      'admin',
      'PATCH',
      `${PODS}/apart`,
      { metadata: { labels: { a: 'b' } }, status: { phase: 'Failed' } },
      SMP,
    );
    expect(body).toMatchObject({ metadata: { labels: { a: 'b' }, generation: 1 }, status: { phase: 'Running' } });
    expect((body['spec'] as { hostNetwork?: boolean }).hostNetwork).toBeUndefined();
  });

  test('a container that ended for good cannot run again', async () => {
    await makePod('ended', { restartPolicy: 'Never' });
    const status = (state: object) => ({
      containerStatuses: [{ name: 'c', image: '', imageID: '', ready: false, restartCount: 0, state }],
    });
    await patchStatus('ended', status({ terminated: { exitCode: 1 } }));
    const { code, body } = await patchStatus('ended', status({ running: {} }));
    expect(code).toBe(422);
    expect(body.message).toContain(
      'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
    );
  });

  test('an old resourceVersion is a conflict, and a lease cannot be put without one', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const lease = {
      metadata: { name: 'n1' },
      spec: { holderIdentity: 'n1', leaseDurationSeconds: 40, renewTime: '2026-11-30T10:00:00.000000Z' },
    };
    const { body: first } = await rig.call('node', 'POST', leases, lease);
    expect(first).toMatchObject({ kind: 'Lease', spec: lease.spec });
    const renewed = (spec: object) => ({ metadata: first.metadata, spec: { ...lease.spec, ...spec } });
    expect((await rig.call('node', 'PUT', `${leases}/n1`, renewed({ leaseTransitions: 1 }))).code).toBe(200);
    expect(await rig.call('node', 'PUT', `${leases}/n1`, renewed({ leaseTransitions: 2 }))).toMatchObject({
      code: 409,
      body: { reason: 'Conflict' },
    });
    expect(await rig.call('node', 'PUT', `${leases}/n1`, lease)).toMatchObject({
      code: 422,
      body: { message: expect.stringContaining('must be specified for an update') },
    });
    expect((await rig.call('node', 'GET', `${leases}/n2`)).code).toBe(403);
  });

  test('binding sets the node and the PodScheduled condition, once', async () => {
    await rig.call('admin', 'POST', PODS, podOf('bound', { nodeName: undefined }));
    rig.server.bind('default', 'bound', 'n1');
    expect((await rig.call('node', 'GET', `${PODS}/bound`)).body).toMatchObject({
      spec: { nodeName: 'n1' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
    });
    const again = await rig.call('admin', 'POST', `${PODS}/bound/binding`, {
      metadata: { name: 'bound' },
      target: { kind: 'Node', name: 'n2' },
    });
    expect(again).toMatchObject({
      code: 409,
      body: { message: expect.stringContaining('already assigned to node "n1"') },
    });
  });
});

describe('deleting a pod', () => {
  const remove = (who: 'admin' | 'node', name: string, options: object = {}) =>
    rig.call(who, 'DELETE', `${PODS}/${name}`, options);

  test('grace only shrinks, counted from the first request', async () => {
    await makePod('shrinking', { terminationGracePeriodSeconds: 60 });
    const { body: first } = await remove('admin', 'shrinking');
    const { body: longer } = await remove('admin', 'shrinking', { gracePeriodSeconds: 90 });
    expect(longer.metadata).toEqual(first.metadata);
    const { body: shorter } = await remove('admin', 'shrinking', { gracePeriodSeconds: 10 });
    const apart =
      Date.parse(first.metadata?.deletionTimestamp ?? '') - Date.parse(shorter.metadata?.deletionTimestamp ?? '');
    expect([shorter.metadata?.deletionGracePeriodSeconds, apart]).toEqual([10, 50_000]);
  });

  test('the UID is a precondition', async () => {
    const made = await makePod('conditional');
    expect(
      await remove('node', 'conditional', { gracePeriodSeconds: 0, preconditions: { uid: 'other' } }),
    ).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect(
      (await remove('node', 'conditional', { gracePeriodSeconds: 0, preconditions: { uid: made?.uid } })).code,
    ).toBe(200);
    expect((await rig.call('admin', 'GET', `${PODS}/conditional`)).code).toBe(404);
  });

  test('a pod that is on no node, or has ended, goes at once', async () => {
    await rig.call('admin', 'POST', PODS, podOf('unbound', { nodeName: undefined }));
    await makePod('over');
    await patchStatus('over', { phase: 'Succeeded' });
    for (const name of ['unbound', 'over']) {
      await remove('admin', name);
      expect((await rig.call('admin', 'GET', `${PODS}/${name}`)).code).toBe(404);
    }
  });

  test('a finalizer holds it until it is taken off', async () => {
    await rig.call('admin', 'POST', PODS, podOf('held', {}, { finalizers: ['test/hold'] }));
    await remove('admin', 'held', { gracePeriodSeconds: 0 });
    expect((await rig.call('admin', 'GET', `${PODS}/held`)).body.metadata?.deletionGracePeriodSeconds).toBe(0);
    await rig.call('admin', 'PATCH', `${PODS}/held`, { metadata: { finalizers: null } }, SMP);
    expect((await rig.call('admin', 'GET', `${PODS}/held`)).code).toBe(404);
  });
});

describe('mirror pods', () => {
  const mirror = (name: string, owner: object) =>
    podOf(name, {}, { annotations: { 'kubernetes.io/config.mirror': 'h' }, ownerReferences: [owner] });

  test('a node makes them with its own UID as controller, and without a service account', async () => {
    const { body: node } = await rig.call('node', 'GET', '/api/v1/nodes/n1');
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.metadata?.uid, controller: true };
    const made = await rig.call('node', 'POST', PODS, mirror('mirror-n1', owner));
    expect(made.code).toBe(201);
    expect(made.body['spec']).not.toHaveProperty('serviceAccountName');
    const stale = await rig.call('node', 'POST', PODS, mirror('stale-n1', { ...owner, uid: 'old' }));
    expect(stale).toMatchObject({ code: 403, body: { message: expect.stringContaining('UID mismatch') } });
  });
});

describe('listing and watching', () => {
  test('pages are cut by limit and go on where they ended', async () => {
    for (const name of ['page-a', 'page-b', 'page-c']) await makePod(name);
    const path = `${PODS}?limit=2&fieldSelector=status.phase%3DPending`;
    const { body: first } = await rig.call('admin', 'GET', path);
    const { body: next } = await rig.call(
      'admin',
      'GET',
      `${path}&continue=${(first.metadata as { continue?: string }).continue}`,
    );
    expect(first.items).toHaveLength(2);
    expect(next.items?.[0]?.metadata.name).not.toBe(first.items?.[1]?.metadata.name);
  });

  test('a field that is not indexed is refused', async () => {
    expect((await rig.call('admin', 'GET', `${PODS}?fieldSelector=spec.hostname%3Dx`)).body.message).toBe(
      'field label not supported: spec.hostname',
    );
  });

  test('a pod comes into a selection as ADDED and falls out of it as DELETED', async () => {
    await makePod('moving');
    const path = `${PODS}?watch=1&labelSelector=in%3Dyes`;
    const watching = await rig.watch(path);
    await rig.call('admin', 'PATCH', `${PODS}/moving`, { metadata: { labels: { in: 'yes' } } }, SMP);
    await rig.call('admin', 'PATCH', `${PODS}/moving`, { metadata: { labels: { in: null } } }, SMP);
    await until('both events', () => watching.events.length === 2);
    expect(watching.events.map((e) => [e.type, e.object.metadata?.name])).toEqual([
      ['ADDED', 'moving'],
      ['DELETED', 'moving'],
    ]);
    watching.stop();
  });

  test('a watch goes on from a resourceVersion, and bookmarks tell of revisions without changes', async () => {
    const { body: list } = await rig.call('admin', 'GET', NODE_PODS);
    await makePod('after');
    const from = list.metadata?.resourceVersion;
    const watching = await rig.watch(`${NODE_PODS}&watch=1&allowWatchBookmarks=true&resourceVersion=${from}`);
    await until('a bookmark', () => watching.events.some((e) => e.type === 'BOOKMARK'));
    expect(watching.events[0]).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'after' } } });
    const bookmark = watching.events.find((e) => e.type === 'BOOKMARK');
    expect(Number(bookmark?.object.metadata?.resourceVersion)).toBeGreaterThan(Number(from));
    watching.stop();
  });

  test('a watch list ends its first part with a bookmark that says so', async () => {
    const watching = await rig.watch(
      `${NODE_PODS}&watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    );
    await until('the end of the beginning', () =>
      watching.events.some((e) => e.object.metadata?.annotations?.['k8s.io/initial-events-end'] === 'true'),
    );
    watching.stop();
  });

  test('a watch from before a compaction is told 410 and ends', async () => {
    const { body: list } = await rig.call('admin', 'GET', PODS);
    await makePod('before-compaction');
    rig.server.compact();
    const watching = await rig.watch(`${PODS}?watch=1&resourceVersion=${list.metadata?.resourceVersion}`);
    await watching.over;
    expect(watching.events).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } },
    ]);
  });

  test('a watch ends after its timeout', async () => {
    const watching = await rig.watch(`${PODS}?watch=1&timeoutSeconds=1`);
    await watching.over;
  });
});

describe('who asks', () => {
  test('a token for a pod is known while the pod is there', async () => {
    await makePod('tokened');
    const pod = (await rig.call('admin', 'GET', `${PODS}/tokened`)).body;
    const ask = (seconds: number, uid?: string) =>
      rig.call('node', 'POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {
        spec: {
          audiences: ['vault'],
          expirationSeconds: seconds,
          boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'tokened', uid },
        },
      });
    expect((await ask(60)).code).toBe(422);
    expect((await ask(600, 'other')).code).toBe(409);
    const { body } = await ask(600, pod.metadata?.uid);
    const { token } = body['status'] as { token: string };
    const review = async () =>
      (
        await rig.call('node', 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
          spec: { token, audiences: ['vault'] },
        })
      ).body['status'];
    expect(await review()).toMatchObject({
      authenticated: true,
      user: { username: 'system:serviceaccount:default:default' },
      audiences: ['vault'],
    });
    await rig.call('admin', 'DELETE', `${PODS}/tokened`, { gracePeriodSeconds: 0 });
    expect(await review()).toMatchObject({ authenticated: false });
  });

  test('a node reads the secrets of its own pods only', async () => {
    const secrets = '/api/v1/namespaces/default/secrets';
    await rig.call('admin', 'POST', secrets, { metadata: { name: 'used' }, stringData: { a: 'b' } });
    expect((await rig.call('node', 'GET', `${secrets}/used`)).code).toBe(403);
    await makePod('user', { volumes: [{ name: 'v', secret: { secretName: 'used' } }] });
    expect((await rig.call('node', 'GET', `${secrets}/used`)).body).toMatchObject({ data: { a: 'Yg==' } });
  });

  test('access reviews answer for other users', async () => {
    const review = async (user: string, groups: string[]) =>
      (
        await rig.call('node', 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          spec: {
            user,
            groups,
            resourceAttributes: { verb: 'get', resource: 'nodes', subresource: 'proxy', name: 'n1' },
          },
        })
      ).body['status'];
    expect(await review('root', ['system:masters'])).toEqual({ allowed: true });
    expect(await review('guest', ['system:authenticated'])).toMatchObject({ allowed: false });
  });
});

test('a Node that is deleted takes its mirror pods and its lease with it', async () => {
  await rig.call('admin', 'DELETE', '/api/v1/nodes/n1');
  await until('the mirror pod being deleted', async () => {
    const { code, body } = await rig.call('admin', 'GET', `${PODS}/mirror-n1`);
    return code === 404 || body.metadata?.deletionTimestamp !== undefined;
  });
});
