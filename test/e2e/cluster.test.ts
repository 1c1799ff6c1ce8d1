import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Node, Pod } from '../../machines/kubernetes.types.ts';
import { describeKubectl } from '../support/apiserver/kubectl.ts';
import type { Kubectl } from '../support/apiserver/kubectl.ts';
import { ClusterRig } from '../support/cluster-rig.ts';
import { shell } from '../support/pods.ts';

let rig: ClusterRig;
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
const STUBBORN = 'trap "" TERM; while :; do sleep 1; done';

describeKubectl('an agent in a cluster, seen by kubectl', () => {
  beforeAll(async () => {
    rig = await ClusterRig.onEmbedded();
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
    const text = await described('node', node, /Normal +Starting|Normal +Registered|NodeReady/);
    for (const condition of ['MemoryPressure', 'DiskPressure', 'PIDPressure'])
      expect(text).toMatch(new RegExp(`${condition} +False .*KubeletHas`));
    expect(text).toMatch(/Ready +True .*KubeletReady/);
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
    const { items, metadata } = await kubectl.get<{ items: Pod[]; metadata: { resourceVersion: string } }>('pods');
    expect([items.length, metadata]).toEqual([1, expect.anything()]);
    const watching = kubectl.try(['get', 'pods', '--watch-only', '-o', 'name', '--request-timeout=4s']);
    await rig.create('watched');
    await ready('watched');
    await kubectl.run('delete', 'pod', 'watched', '--timeout=50s');
    await kubectl.run('wait', '--for=delete', 'pod/watched', '--timeout=50s');
    const { stdout } = await watching;
    expect(stdout.split('\n').filter((line) => line === 'pod/watched').length).toBeGreaterThanOrEqual(3);
    await rig.agree(['web']);
  }, 90_000);

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

  test('cordoned, it takes no pods of a scheduler, and those that it has run on', async () => {
    await kubectl.run('cordon', node);
    expect(row(await kubectl.run('get', 'nodes'), node)['STATUS']).toBe('Ready,SchedulingDisabled');
    // The taint that comes with it keeps none from running that is bound to it.
    await rig.create('cordoned');
    await ready('cordoned');
    await rig.agree(['web', 'cordoned']);
    await rig.killAgent();
    await rig.agree(['web', 'cordoned']);
    expect(await rig.see('node', node, '{.spec.unschedulable}')).toBe('true');
    await kubectl.run('uncordon', node);
    await rig.until('it is Ready', async () => row(await kubectl.run('get', 'nodes'), node)['STATUS'] === 'Ready');
    await kubectl.run('delete', 'pod', 'cordoned', '--timeout=50s');
  }, 120_000);

  test('a pod that is deleted is told to end, and is gone when it has', async () => {
    const script = 'trap "sleep 1; echo ended >> /starts/ended; exit 0" TERM; sleep 86400 & wait';
    await kubectl.create(rig.pod('ends', { script }, { terminationGracePeriodSeconds: 600 }));
    await ready('ends');
    await kubectl.run('delete', 'pod', 'ends', '--timeout=50s');
    expect(await phaseOf('ends')).toBe('');
    expect(await rig.starts('ended')).toEqual(['ended']);
    await rig.agree(['web']);
  }, 90_000);

  test('a grace in the deletion is the one that counts', async () => {
    await kubectl.create(rig.pod('grace', { script: STUBBORN }, { terminationGracePeriodSeconds: 600 }));
    await ready('grace');
    await kubectl.run('delete', 'pod', 'grace', '--grace-period=1', '--timeout=50s');
    await rig.agree(['web']);
  }, 90_000);

  test('B002 a force delete of one that ignores its end, at once or after a patient one', async () => {
    const stubborn = (name: string) => rig.pod(name, { script: STUBBORN }, { terminationGracePeriodSeconds: 600 });
    await kubectl.create(stubborn('forced'), stubborn('changed'));
    for (const name of ['forced', 'changed']) await ready(name);
    await rig.remove('changed');
    const asked = Date.now();
    await kubectl.run('delete', 'pod', 'forced', 'changed', '--grace-period=0', '--force', '--timeout=50s');
    await rig.agree(['web']);
    // Far from the ten minutes that they were given: the least grace, and what the looking takes.
    expect(Date.now() - asked).toBeLessThan(45_000);
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
