import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Pod } from '../../../machines/kubernetes.types.ts';
import { describeKubectl } from '../../support/apiserver/kubectl.ts';
import { until } from '../../support/until.ts';
import { nodeN1, openRig, podOf } from './rig.ts';
import type { Rig } from './rig.ts';

/** The columns of a printed table's row that begins with `name`. */
const row = (printed: string, name: string) =>
  printed
    .split('\n')
    .find((line) => line.startsWith(name))
    ?.trim()
    .split(/\s{2,}/);

describeKubectl('kubectl works against the API server double', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  test('it knows the version, the groups and the resources', async () => {
    expect(await rig.admin.run('version')).toContain('Server Version: v1.36.0');
    expect(await rig.admin.run('api-resources', '--no-headers')).toMatch(
      /^leases +coordination.k8s.io\/v1 +true +Lease$/m,
    );
    expect(await rig.admin.run('explain', 'pod.spec.containers.image')).toContain('FIELD: image <string>');
  });

  test('a pod is created with the defaults of the API and printed in columns', async () => {
    expect(await rig.admin.create(podOf('created'))).toBe('pod/created created\n');
    const pod = await rig.admin.get<Pod>('pod', 'created');
    expect(pod.spec).toMatchObject({
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      serviceAccountName: 'default',
      containers: [{ imagePullPolicy: 'IfNotPresent', terminationMessagePath: '/dev/termination-log', resources: {} }],
    });
    expect(pod.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    expect(pod.metadata).toMatchObject({ namespace: 'default', generation: 1, uid: expect.any(String) });
    const printed = await rig.admin.run('get', 'pods', '-o', 'wide');
    expect(row(printed, 'created')).toEqual([
      'created',
      '0/1',
      'Pending',
      '0',
      expect.any(String),
      '<none>',
      'n1',
      '<none>',
      '<none>',
    ]);
    expect(await rig.admin.run('get', 'pods', '-l', 'app=none', '-o', 'name')).toBe('');
    expect(await rig.admin.run('get', 'pods', '--field-selector', 'spec.nodeName=n1', '-o', 'name')).toContain(
      'pod/created',
    );
  });

  test('apply merges a changed manifest into what others wrote', async () => {
    const manifest = podOf('applied', {}, { labels: { app: 'a' } });
    const apply = async (object: object) => (await rig.admin.try(['apply', '-f', '-'], JSON.stringify(object))).stdout;
    expect(await apply(manifest)).toBe('pod/applied created\n');
    expect(await apply(manifest)).toBe('pod/applied unchanged\n');
    await rig.admin.run('annotate', 'pod', 'applied', 'other=kept');
    const changed = podOf(
      'applied',
      { containers: [{ name: 'c', image: 'busybox:1.37', command: ['sleep', '1000'] }] },
      { labels: { app: 'b' } },
    );
    expect(await apply(changed)).toBe('pod/applied configured\n');
    const pod = await rig.admin.get<Pod>('pod', 'applied');
    expect(pod.metadata).toMatchObject({ labels: { app: 'b' }, annotations: { other: 'kept' }, generation: 2 });
    expect(pod.spec?.containers[0]).toMatchObject({ image: 'busybox:1.37', imagePullPolicy: 'IfNotPresent' });
  });

  test('fields that a pod does not have, and changes that a pod may not see, are refused', async () => {
    const unknown = await rig.admin.try(['create', '-f', '-'], JSON.stringify(podOf('unknown', { nodename: 'x' })));
    expect(unknown.stderr).toContain('strict decoding error: unknown field "spec.nodename"');
    await rig.admin.create(podOf('fixed'));
    const moved = await rig.admin.try(['patch', 'pod', 'fixed', '-p', '{"spec":{"nodeName":"n2"}}']);
    expect(moved.stderr).toContain('pod updates may not change fields other than `spec.containers[*].image`');
    const twice = await rig.admin.try(['create', '-f', '-'], JSON.stringify(podOf('fixed')));
    expect(twice.stderr).toContain(
      'Error from server (AlreadyExists): error when creating "STDIN": pods "fixed" already exists',
    );
  });

  test('strategic, merge and JSON patches do what each says', async () => {
    await rig.admin.create(podOf('patched', {}, { labels: { a: '1', b: '2' } }));
    await rig.admin.run('patch', 'pod', 'patched', '-p', '{"spec":{"containers":[{"name":"c","image":"other:1"}]}}');
    await rig.admin.run('patch', 'pod', 'patched', '--type=merge', '-p', '{"metadata":{"labels":{"a":null}}}');
    await rig.admin.run(
      'patch',
      'pod',
      'patched',
      '--type=json',
      '-p',
      '[{"op":"add","path":"/metadata/labels/x~1y","value":"3"}]',
    );
    const pod = await rig.admin.get<Pod>('pod', 'patched');
    expect(pod.metadata?.labels).toEqual({ b: '2', 'x/y': '3' });
    expect(pod.spec?.containers[0]).toMatchObject({ image: 'other:1', command: ['sleep', '1000'] });
  });

  test('a watch shows a pod from its creation to its end', async () => {
    const watching = spawn('kubectl', [
      '--kubeconfig',
      rig.admin.kubeconfig,
      'get',
      'pods',
      '-w',
      '--output-watch-events',
      '--field-selector',
      'metadata.name=watched',
    ]);
    let seen = '';
    watching.stdout.on('data', (text: Buffer) => (seen += text.toString()));
    await rig.admin.create(podOf('watched'));
    await until('the pod seen', () => /ADDED +watched +0\/1 +Pending/.test(seen));
    await rig.admin.run('patch', 'pod', 'watched', '--subresource=status', '-p', '{"status":{"phase":"Running"}}');
    await until('the change seen', () => /MODIFIED +watched +0\/1 +Running/.test(seen));
    await rig.admin.run('delete', 'pod', 'watched', '--now', '--wait=false');
    await until('the deletion seen', () => /MODIFIED +watched +0\/1 +Terminating/.test(seen));
    await rig.admin.run('delete', 'pod', 'watched', '--force', '--grace-period=0');
    await until('the end seen', () => /DELETED +watched/.test(seen));
    watching.kill();
  });

  test('delete waits for the node, which deletes with grace 0', async () => {
    await rig.admin.create(nodeN1, podOf('deleted', { terminationGracePeriodSeconds: 7 }));
    const deleting = rig.admin.run('delete', 'pod', 'deleted');
    const marked = await until('a deletion timestamp', async () => {
      const pod = await rig.admin.get<Pod>('pod', 'deleted');
      return pod.metadata?.deletionTimestamp ? pod : undefined;
    });
    expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 7, generation: 2 });
    expect(row(await rig.admin.run('get', 'pods'), 'deleted')?.[2]).toBe('Terminating');
    await rig.node.run('delete', 'pod', 'deleted', '--grace-period=0', '--force');
    expect(await deleting).toBe('pod "deleted" deleted\n');
    expect((await rig.admin.try(['get', 'pod', 'deleted'])).stderr).toContain('pods "deleted" not found');
  });

  test('a node is cordoned, described and drained', async () => {
    await rig.admin.try(['create', '-f', '-'], JSON.stringify(nodeN1));
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
    await rig.node.run(
      'patch',
      'node',
      'n1',
      '--subresource=status',
      '-p',
      JSON.stringify({ status: { conditions: [ready] } }),
    );
    await rig.admin.run('wait', '--for=condition=Ready', 'node/n1');
    await rig.admin.run('cordon', 'n1');
    expect(row(await rig.admin.run('get', 'nodes'), 'n1')?.[1]).toBe('Ready,SchedulingDisabled');
    await rig.admin.create(podOf('described'));
    expect(await rig.admin.run('describe', 'node', 'n1')).toMatch(/default +described +0 \(0%\)/);
    const drained = rig.admin.run('drain', 'n1', '--force', '--pod-selector=drained!=no', '--grace-period=1');
    await until('every pod of the node being deleted', async () => {
      const { items } = await rig.admin.get<{ items: Pod[] }>('pods');
      for (const pod of items.filter((p) => p.metadata?.deletionTimestamp))
        await rig.node.try(['delete', 'pod', pod.metadata?.name ?? '', '--grace-period=0', '--force']);
      return items.length === 0;
    });
    expect(await drained).toContain('node/n1 drained');
    expect(await rig.admin.run('uncordon', 'n1')).toBe('node/n1 uncordoned\n');
  });

  test('events are told with the pod that they are about', async () => {
    await rig.admin.create(podOf('told'));
    const { metadata } = await rig.admin.get<Pod>('pod', 'told');
    const involvedObject = { kind: 'Pod', namespace: 'default', name: 'told', uid: metadata?.uid, apiVersion: 'v1' };
    const now = new Date().toISOString().replace(/\.\d+/, '');
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'told.1' },
      involvedObject,
      reason: 'Started',
      message: 'Container started',
      type: 'Normal',
      count: 3,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: 'kubelet', host: 'n1' },
    };
    await rig.node.create(event);
    expect(await rig.admin.run('describe', 'pod', 'told')).toMatch(
      /Normal +Started +\S+ \(x3 over \S+\) +kubelet +Container started/,
    );
    expect(await rig.admin.run('events', '--for', 'pod/told')).toContain('Container started');
    expect(await rig.admin.run('get', 'events')).toMatch(/Normal +Started +pod\/told +Container started/);
    expect(await rig.admin.run('get', 'events.events.k8s.io', '-o', 'jsonpath={.items[*].note}')).toBe(
      'Container started',
    );
  });

  test('configMaps, secrets, namespaces, tokens and access questions go through its typed clients', async () => {
    await rig.admin.run('create', 'namespace', 'team');
    await rig.admin.run('create', 'configmap', 'settings', '--from-literal=a=b', '-n', 'team');
    await rig.admin.run('create', 'secret', 'generic', 'keys', '--from-literal=p=q', '-n', 'team');
    expect(await rig.admin.get('secret', 'keys', '-n', 'team')).toMatchObject({ type: 'Opaque', data: { p: 'cQ==' } });
    expect(await rig.admin.run('create', 'token', 'default', '-n', 'team')).toMatch(/^\S+\.\S+\.\S+$/m);
    expect(await rig.admin.run('auth', 'can-i', 'delete', 'pods')).toBe('yes\n');
    expect((await rig.admin.try(['auth', 'can-i', 'delete', 'pods', '--as=nobody'])).stdout).toMatch(/^no\b/);
    await rig.admin.run('delete', 'namespace', 'team');
    expect((await rig.admin.try(['get', 'configmap', 'settings', '-n', 'team'])).code).toBe(1);
  });

  test('a node may do what the node authorizer lets it', async () => {
    expect((await rig.node.try(['get', 'pods'])).stderr).toContain(
      'can only list/watch pods with spec.nodeName field selector',
    );
    expect((await rig.node.try(['get', 'node', 'n2'])).stderr).toContain('node can only access its own Node object');
    expect((await rig.node.try(['get', 'secrets'])).stderr).toContain(
      'can only read namespaced object of this type by name',
    );
    const plain = await rig.node.try(['create', '-f', '-'], JSON.stringify(podOf('plain')));
    expect(plain.stderr).toContain('node "n1" can only create mirror pods');
  });
});
