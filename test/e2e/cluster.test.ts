import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Node, Pod } from '../../machines/kubernetes.types.ts';
import { describeKubectl } from '../support/apiserver/kubectl.ts';
import type { Kubectl } from '../support/apiserver/kubectl.ts';
import { ClusterRig, NO_PRESSURE } from '../support/cluster-rig.ts';
import { comparesAll } from '../support/compares-all.ts';
import { shell } from '../support/pods.ts';

let rig: Awaited<ReturnType<typeof ClusterRig.onHeard>>;
let kubectl: Kubectl;
let node: string;

/** The columns of a printed table, by the names in its head, of the row that begins with `name`. */
function row(printed: string, name: string): Record<string, string> {
  const [head = '', ...rows] = printed.split('\n').map((line) => line.trim().split(/\s{2,}/));
  const cells = rows.find(([first]) => first === name) ?? [];
  return Object.fromEntries([...head].map((column, i) => [column, cells[i] ?? '']));
}
const phaseOf = (name: string) => rig.see('pod', name, '{.status.phase}');
const ready = (name: string) => kubectl.run('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=50s');
/** What `kubectl describe` prints, once it has the words. */
const described = (kind: string, name: string, words: RegExp) =>
  rig.until(`describe ${kind} ${name} has ${words}`, async () => {
    const text = await kubectl.run('describe', kind, name);
    return words.test(text) && text;
  });
/** Graces of the stops of a pod's container that the runtime has heard, in seconds and in order. */
const gracesOf = (containerId: string) =>
  rig.runtime.faults
    .calls('StopContainer')
    .map(({ request }) => request as { containerId: string; timeout: bigint })
    .flatMap((stop) => (containerId.endsWith(`//${stop.containerId}`) ? [Number(stop.timeout)] : []));
const containerOf = (name: string) => rig.see('pod', name, '{.status.containerStatuses[0].containerID}');
const podsPath = () => `/api/v1/namespaces/${rig.cluster.namespace}/pods`;
/** Every change of a pod since a revision of its list, as the API server tells of them; once it is gone. */
const changesOf = (name: string, since: string) =>
  rig.until(`the watch tells of the end of ${name}`, async () => {
    const query = `watch=1&resourceVersion=${since}&fieldSelector=metadata.name%3D${name}&timeoutSeconds=1`;
    const told = await kubectl.run('get', '--raw', `${podsPath()}?${query}`);
    const changes = told.split('\n').filter(Boolean).map((line) => JSON.parse(line) as { type: string; object: Pod }); // prettier-ignore
    return changes.at(-1)?.type === 'DELETED' && changes;
  });
/** What a user sees of a pod of one container: phase, state of the container, and readiness. */
const seenOf = ({ status }: Pod) => {
  const state = status?.containerStatuses?.[0]?.state ?? {};
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready')?.status;
  return `${status?.phase} ${state.waiting?.reason ?? Object.keys(state)[0]} ${ready}`;
};
const STUBBORN = 'trap "" TERM; while :; do sleep 1; done';

describeKubectl('an agent in a cluster, seen by kubectl', () => {
  beforeAll(async () => {
    rig = await ClusterRig.onHeard({ nodeStatusUpdateFrequency: '2s' });
    ({ kubectl } = rig);
    node = rig.cluster.nodeName;
  }, 180_000);

  afterAll(() => rig?.discard(), 120_000);

  test('its node is registered and becomes Ready; get and describe tell what it is and has', async () => {
    await kubectl.run('wait', '--for=condition=Ready', `node/${node}`, '--timeout=50s');
    const printed = row(await kubectl.run('get', 'node', node, '-o', 'wide'), node);
    expect(printed).toMatchObject({
      STATUS: 'Ready',
      VERSION: expect.stringMatching(/^v1\.36\.0/),
      'INTERNAL-IP': expect.stringMatching(/^[\d.]+$|:/),
      'KERNEL-VERSION': expect.stringMatching(/^\d+\.\d+/),
      'CONTAINER-RUNTIME': expect.stringMatching(/^\S+:\/\/\S+/),
    });
    const told = ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'];
    const messages = { Starting: 'Starting kubelet.', ...Object.fromEntries(told.map((reason) => [reason, `Node ${node} status is now: ${reason}`])) }; // prettier-ignore
    const events = await rig.until('its events', async () => {
      const now = await rig.nodeEvents();
      return Object.keys(messages).every((reason) => now.has(reason)) && now;
    });
    // Of the host itself there may be others: cgroup v1, swap.
    for (const [reason, message] of Object.entries(messages))
      expect([reason, events.get(reason)]).toEqual([reason, { type: 'Normal', message, count: 1 }]);
    // A Node that is Ready from its creation on does not become so.
    const more = [...events.keys()].filter((reason) => reason.startsWith('Node') && reason !== 'NodeReady');
    expect(more.toSorted()).toEqual(told.toSorted());
    const text = await kubectl.run('describe', 'node', node);
    const Ready = ['True', 'KubeletReady', 'kubelet is posting ready status'];
    for (const [condition, [is, ...why]] of Object.entries({ ...NO_PRESSURE, Ready }))
      expect(text).toMatch(new RegExp(`^ +${condition} +${is} .* ${why.join(' +')}$`, 'm'));
    expect(text).toMatch(/HolderIdentity: +\S+/);
    expect(text).toMatch(new RegExp(`Hostname: +${node}`));
    const { status } = await kubectl.get<Node>('node', node);
    for (const resource of ['cpu', 'memory', 'ephemeral-storage', 'pods'])
      expect([resource, status?.capacity?.[resource], status?.allocatable?.[resource]]).toEqual([
        resource,
        expect.stringMatching(/^[1-9]/),
        expect.stringMatching(/^[1-9]/),
      ]);
    expect(status?.nodeInfo).toMatchObject({
      operatingSystem: 'linux',
      machineID: expect.any(String),
      bootID: expect.stringMatching(/-/),
      osImage: expect.stringMatching(/./),
    });
  }, 90_000);

  test('B155 the lease of the node is its own and is owned by the Node', async () => {
    const uid = await rig.see('node', node, '{.metadata.uid}');
    const lease = await kubectl.get<{
      spec: { holderIdentity: string; leaseDurationSeconds: number };
      metadata: { ownerReferences: object[] };
    }>('lease', '-n', 'kube-node-lease', node);
    expect(lease.spec).toMatchObject({ holderIdentity: node, leaseDurationSeconds: 40 });
    expect(lease.metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: node, uid }]);
  }, 60_000);

  test('a pod that is bound to it runs: get shows it in all its columns, describe how it came to', async () => {
    await rig.create('web');
    await ready('web');
    const printed = row(await kubectl.run('get', 'pods', '-o', 'wide'), 'web');
    expect(printed).toMatchObject({ READY: '1/1', STATUS: 'Running', RESTARTS: '0', NODE: node });
    expect(printed).toMatchObject({
      IP: expect.stringMatching(/^[\d.]+$|:/),
      AGE: expect.stringMatching(/^\d+[sm]/),
    });
    const text = await described('pod', 'web', /Normal +Started/);
    for (const condition of ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'])
      expect(text).toMatch(new RegExp(`^ +${condition} +True`, 'm'));
    expect(text).toMatch(/State: +Running\n +Started: +\S/);
    expect(text).toMatch(/Container ID: +\S+:\/\/\S+/);
    for (const reason of ['Pulled', 'Created', 'Started'])
      expect(text).toMatch(new RegExp(`Normal +${reason} .* kubelet`));
    await rig.agree(['web']);
  }, 90_000);

  test('a watch tells each step of a pod from its creation to its end', async () => {
    // As it is: kubectl's own List has no resourceVersion.
    const listed = await kubectl.run('get', '--raw', podsPath());
    const { items, metadata } = JSON.parse(listed) as { items: Pod[]; metadata: { resourceVersion: string } };
    expect(items.map((each) => each.metadata?.name)).toEqual(['web']);
    await rig.create('watched');
    await ready('watched');
    await kubectl.run('delete', 'pod', 'watched', '--timeout=50s');
    const changes = await changesOf('watched', metadata.resourceVersion);
    const versions = changes.map(({ object }) => Number(object.metadata?.resourceVersion));
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    const types = changes.map(({ type }) => type);
    expect(types).toEqual(['ADDED', ...types.slice(1, -1).map(() => 'MODIFIED'), 'DELETED']);
    const [stays, ends] = [false, true].map((isEnding) =>
      changes
        .filter(({ object }) => (object.metadata?.deletionTimestamp !== undefined) === isEnding)
        .map(({ object }) => seenOf(object)),
    );
    const steps = ['Pending undefined undefined', 'Pending ContainerCreating False', 'Running running True'];
    // A start that is over in a moment is not shown on its way.
    const isQuick = !stays?.includes(steps[1] ?? '');
    expect([...new Set(stays)]).toEqual(steps.filter((_, step) => !isQuick || step !== 1));
    // Between them it may be shown as ended while its phase is Running.
    expect([ends?.[0], ends?.at(-1)]).toEqual(['Running running True', 'Succeeded terminated False']);
    await rig.agree(['web']);
  }, 90_000);

  comparesAll(() => rig, 'web');

  test('a container that ends is restarted: its restarts and its last state are shown', async () => {
    const once = 'test $(wc -l < /starts/again) -gt 1 || exit 7; trap "exit 0" TERM; sleep 86400 & wait';
    await kubectl.create(rig.pod('again', { script: once }));
    await rig.until('it is restarted', async () => (await rig.see('pod', 'again', '{.status.containerStatuses[0].restartCount}')) === '1'); // prettier-ignore
    await ready('again');
    expect(row(await kubectl.run('get', 'pods'), 'again')['RESTARTS']).toMatch(/^1 \(\d+s ago\)$/);
    const text = await kubectl.run('describe', 'pod', 'again');
    expect(text).toMatch(/Last State: +Terminated\n +Reason: +Error\n +Exit Code: +7/);
    await rig.agree(['web', 'again'], { restarted: ['again'] });
    await kubectl.run('delete', 'pod', 'again', '--timeout=50s');
  }, 90_000);

  test('cordoned, it takes no pods of a scheduler until it is uncordoned; those that it has and those bound to it run', async () => {
    const statusOf = async () => row(await kubectl.run('get', 'nodes'), node)['STATUS'];
    const heartbeat = () => rig.see('node', node, '{.status.conditions[?(@.type=="Ready")].lastHeartbeatTime}');
    await kubectl.run('cordon', node);
    expect(await statusOf()).toBe('Ready,SchedulingDisabled');
    const nodeSelector = { 'kubernetes.io/hostname': node };
    await kubectl.create(rig.pod('pending', {}, { nodeName: undefined, nodeSelector }));
    const scheduled = '{.status.conditions[?(@.type=="PodScheduled")].reason}';
    const refused = async () => (await rig.see('pod', 'pending', scheduled)) === 'Unschedulable';
    await rig.until('the scheduler finds no node for it', refused);
    // The taint that comes with a cordon keeps none from running that is bound to the node.
    await rig.create('cordoned');
    await ready('cordoned');
    await rig.agree(['web', 'cordoned']);
    const told = (reason: string) => rig.until(reason, async () => (await rig.nodeEvents()).get(reason));
    const status = { type: 'Normal', count: 1 };
    const message = `Node ${node} status is now:`;
    expect(await told('NodeNotSchedulable')).toEqual({ ...status, message: `${message} NodeNotSchedulable` });
    await rig.daemon.kill9();
    const before = await heartbeat();
    await rig.until('its time is past, to the second', async () => Date.now() >= Date.parse(before) + 1000);
    await rig.daemon.start();
    await rig.until('the new agent has written the Node’s status', async () => (await heartbeat()) !== before);
    await rig.agree(['web', 'cordoned']);
    expect(await rig.see('node', node, '{.spec.unschedulable}')).toBe('true');
    expect(await statusOf()).toBe('Ready,SchedulingDisabled');
    expect(await refused()).toBe(true);
    await kubectl.run('uncordon', node);
    await ready('pending');
    expect(await statusOf()).toBe('Ready');
    await rig.agree(['web', 'cordoned', 'pending']);
    expect(await told('NodeSchedulable')).toEqual({ ...status, message: `${message} NodeSchedulable` });
    await kubectl.run('delete', 'pod', 'cordoned', 'pending', '--timeout=50s');
  }, 240_000);

  test('a pod that is deleted is told to end, and is gone when it has', async () => {
    const script = 'trap "sleep 1; echo ended >> /starts/ended; exit 0" TERM; sleep 86400 & wait';
    await kubectl.create(rig.pod('ends', { script }, { terminationGracePeriodSeconds: 600 }));
    await ready('ends');
    const id = await containerOf('ends');
    await kubectl.run('delete', 'pod', 'ends', '--timeout=50s');
    expect(gracesOf(id)).toEqual([600]);
    expect(await phaseOf('ends')).toBe('');
    expect(await rig.starts('ended')).toEqual(['ended']);
    await rig.agree(['web']);
  }, 90_000);

  test('a grace in the deletion is the one that counts', async () => {
    await kubectl.create(rig.pod('grace', { script: STUBBORN }, { terminationGracePeriodSeconds: 600 }));
    await ready('grace');
    const id = await containerOf('grace');
    await kubectl.run('delete', 'pod', 'grace', '--grace-period=3', '--timeout=50s');
    expect(gracesOf(id)).toEqual([3]);
    await rig.agree(['web']);
  }, 90_000);

  test('B002 a force delete of one that ignores its end, at once or after a patient one', async () => {
    const stubborn = (name: string) => rig.pod(name, { script: STUBBORN }, { terminationGracePeriodSeconds: 600 });
    await kubectl.create(stubborn('forced'), stubborn('changed'));
    for (const name of ['forced', 'changed']) await ready(name);
    const ids = await Promise.all(['forced', 'changed'].map(containerOf));
    await rig.remove('changed');
    await rig.until('it is told to end', async () => gracesOf(ids[1] ?? '').length > 0);
    await kubectl.run('delete', 'pod', 'forced', 'changed', '--grace-period=0', '--force', '--timeout=50s');
    await rig.agree(['web']);
    // The least that a node gives (kuberuntime_container.go:minimumGracePeriodInSeconds), not the ten minutes.
    expect(ids.map(gracesOf)).toEqual([[2], [600, 2]]);
  }, 90_000);

  test('a pod that fails is Failed with the exit code of its container', async () => {
    await kubectl.create(rig.pod('fails', { script: 'exit 3' }, { restartPolicy: 'Never' }));
    await kubectl.run('wait', '--for=jsonpath={.status.phase}=Failed', 'pod/fails', '--timeout=50s');
    expect(await rig.see('pod', 'fails', '{.status.containerStatuses[0].state.terminated.exitCode}')).toBe('3');
    expect(row(await kubectl.run('get', 'pods'), 'fails')).toMatchObject({ READY: '0/1', STATUS: 'Error' });
    await kubectl.run('delete', 'pod', 'fails', '--timeout=50s');
  }, 90_000);

  test('B063 a pod that is over is over after a restart, and can be deleted', async () => {
    await kubectl.create(rig.pod('over', { script: 'exit 0' }, { restartPolicy: 'Never' }));
    await kubectl.run('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/over', '--timeout=50s');
    await rig.killAgent();
    await rig.agree(['web', 'over']);
    expect(await phaseOf('over')).toBe('Succeeded');
    await kubectl.run('delete', 'pod', 'over', '--timeout=50s');
    await rig.agree(['web']);
  }, 90_000);

  test('B020 a pod that asks for more than the node has is refused, and can be deleted', async () => {
    const requests = { cpu: '1000' };
    await kubectl.create(rig.pod('huge', {}, {}, { resources: { requests } }));
    await kubectl.run('wait', '--for=jsonpath={.status.phase}=Failed', 'pod/huge', '--timeout=50s');
    expect(row(await kubectl.run('get', 'pods'), 'huge')['STATUS']).toBe('OutOfcpu');
    await described('pod', 'huge', /Warning +OutOfcpu/);
    await kubectl.run('delete', 'pod', 'huge', '--timeout=50s');
    await rig.agree(['web']);
  }, 90_000);

  test('B095 a static pod has a mirror pod, which comes back when it is deleted and goes with its manifest', async () => {
    const mirror = `st-${node}`;
    await rig.putStatic('st');
    await rig.until('it is there', async () => (await phaseOf(mirror)) === 'Running');
    await rig.agree(['web', mirror]);
    const uidOf = () => rig.see('pod', mirror, '{.metadata.uid}');
    const before = await uidOf();
    // kubectl's own wait may begin when the next one is there already, and would wait for the end of that.
    await kubectl.run('delete', 'pod', mirror, '--wait=false');
    await rig.until('it is back', async () => !['', before].includes(await uidOf()));
    await rig.agree(['web', mirror]);
    await rig.daemon.remove('st');
    await kubectl.run('wait', '--for=delete', `pod/${mirror}`, '--timeout=50s');
    await rig.agree(['web']);
  }, 90_000);

  test('init containers are shown one after the other', async () => {
    const initContainers = [shell('exit 0', { name: 'i1' }), shell('exit 0', { name: 'i2' })];
    await kubectl.create(rig.pod('inits', {}, { initContainers }));
    await ready('inits');
    const text = await kubectl.run('describe', 'pod', 'inits');
    expect(text.match(/State: +Terminated\n +Reason: +Completed\n +Exit Code: +0/g)).toHaveLength(2);
    await kubectl.run('delete', 'pod', 'inits', 'web', '--timeout=50s');
    await rig.agree([]);
  }, 90_000);
});
