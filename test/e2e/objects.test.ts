import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Hearing, inspectorUrl, type Message } from '../inspect/watched.ts';
import { describeKubectl, Kubectl } from '../support/apiserver/kubectl.ts';
import { ApiServer } from '../support/apiserver/server.ts';
import { Daemon, NODE_NAME } from '../support/daemon.ts';
import { EmbeddedProcess } from '../support/embedded-process.ts';
import { tearDown } from '../support/tear-down.ts';

const PASSWORD = 'hunter2-and-more';

let directory: string;
let api: ApiServer;
let runtime: EmbeddedProcess;
let daemon: Daemon;
let kubectl: Kubectl;

function bound(name: string, containers: object[], spec: object = {}): object {
  const common = { image: 'busybox:1.35', imagePullPolicy: 'IfNotPresent' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      nodeName: NODE_NAME,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 2,
      containers: containers.map((container, i) => ({ name: `c${i}`, ...common, ...container })),
      ...spec,
    },
  };
}
const sh = (script: string) => ({ command: ['/bin/sh', '-c', script] });
const WAITS = "trap 'exit 0' TERM; sleep 1000 & wait";
const uidOf = (name: string) => kubectl.run('get', 'pod', name, '-o', 'jsonpath={.metadata.uid}');
const get = (name: string, path: string) => kubectl.run('get', 'pod', name, '-o', `jsonpath={${path}}`);

/** What a container wrote, of all its instances. */
async function logOf(name: string, container = 'c0'): Promise<string> {
  const folder = join(daemon.podLogsDir, `default_${name}_${await uidOf(name)}`, container);
  const files = (await readdir(folder).catch(() => [])).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return texts
    .flatMap((text) => text.split('\n'))
    .map((line) => line.split(' ').slice(3).join(' '))
    .join('\n');
}
const shows = (name: string, text: string, container?: string) =>
  daemon.until(`${name} writes ${text}`, async () => (await logOf(name, container)).includes(text));
const volumeFile = async (pod: string, ...path: string[]) =>
  join(daemon.rootDir, 'pods', await uidOf(pod), 'volumes', ...path);

/** Everything that clients of the inspector heard, each of which asks for whatever there is. */
const viewers: Hearing[] = [];
async function look(): Promise<void> {
  const url = await inspectorUrl(daemon.rootDir);
  for (const query of ['&only=statelet', '&only=xstate']) {
    const viewer = new Hearing(url(query));
    viewers.push(viewer);
    await viewer.opened();
    viewer.send({ type: 'xstate.inspecting' });
    const asked = new Set<string>();
    viewer.socket.on('message', () => {
      const { actor } = viewer.heard.at(-1) as Message & { actor?: { sessionId: string; machine: string } };
      if (!actor || asked.has(actor.sessionId) || !['pod', 'container', 'volume', 'podWriter'].includes(actor.machine))
        return;
      asked.add(actor.sessionId);
      for (const type of ['statelet.watch', 'statelet.explain']) viewer.send({ type, sessionId: actor.sessionId });
    });
  }
}

describeKubectl('pods that use objects of the API', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'statelet-objects-'));
    api = await ApiServer.start({ directory: join(directory, 'api') });
    kubectl = new Kubectl(await api.admin());
    runtime = await EmbeddedProcess.start();
    daemon = await Daemon.start({
      endpoint: runtime.endpoint,
      config: { logging: { verbosity: 5 } },
      flags: [`--kubeconfig=${await api.node(NODE_NAME)}`, '--inspect=0'],
    });
    await look();
    await kubectl.create(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { COLOR: 'red', SIZE: '4' } },
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { PASSWORD } },
    );
  }, 120_000);

  afterAll(async () => {
    await tearDown(
      async () => viewers.forEach((viewer) => viewer.close()),
      () => daemon.discard(),
      () => runtime.discard(),
      () => api.close(),
      () => rm(directory, { recursive: true, force: true }),
    );
  }, 60_000);

  test('a container gets its variables from objects, from its pod and from its resources', async () => {
    const env = [
      { name: 'OWN', value: 'is $(COLOR)' },
      { name: 'SECRET', valueFrom: { secretKeyRef: { name: 'keys', key: 'PASSWORD' } } },
      { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
    ];
    const script = 'echo "$OWN; ${#SECRET}; $NODE; ip=$IP; $MEMORY; $P_SIZE; $1"; ' + WAITS;
    const container = {
      command: ['/bin/sh', '-c', script, 'sh', '$(P_SIZE)'],
      env,
      envFrom: [{ configMapRef: { name: 'settings' } }, { prefix: 'P_', configMapRef: { name: 'settings' } }],
      resources: { limits: { memory: '64Mi' } },
    };
    await kubectl.create(bound('env', [container]));
    await shows('env', `is red; ${PASSWORD.length}; ${NODE_NAME}; ip=127`);
    expect(await logOf('env')).toMatch(/; 64; 4; 4$/m);
  }, 60_000);

  test('a container is told of the services of its namespace, and of the API server’s own in any case', async () => {
    const service = (name: string, clusterIP: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { clusterIP, ports: [{ port: 80 }] },
    });
    await kubectl.create(service('kubernetes', '10.96.0.1'), service('web-front', '10.96.0.20'));
    const container = sh(`echo "$KUBERNETES_SERVICE_HOST $WEB_FRONT_SERVICE_HOST $WEB_FRONT_PORT"; ${WAITS}`);
    await daemon.until('containers that start now are told', async () => {
      await kubectl.run('delete', 'pod', 'links', '--ignore-not-found', '--force');
      await kubectl.create(bound('links', [container]));
      await shows('links', '10.96.0.1');
      return (await logOf('links')).includes('10.96.0.1 10.96.0.20 tcp://10.96.0.20:80');
    });
    await kubectl.create(bound('unlinked', [container], { enableServiceLinks: false }));
    await shows('unlinked', '10.96.0.1');
    expect((await logOf('unlinked')).trim()).toBe('10.96.0.1');
  }, 120_000);

  test('what is missing is told in the kubelet’s words and holds up no other container, and starts once it is there', async () => {
    const from = { configMapKeyRef: { name: 'late', key: 'K' } };
    await kubectl.create(
      bound('late', [
        sh(`echo other; ${WAITS}`),
        { ...sh(`echo "k=$K"; ${WAITS}`), env: [{ name: 'K', valueFrom: from }] },
      ]),
    );
    const waiting = '.status.containerStatuses[?(@.name=="c1")].state.waiting';
    await daemon.until('it is told', async () =>
      (await get('late', `${waiting}.message`)).includes('configmap "late" not found'),
    );
    expect(await get('late', `${waiting}.reason`)).toBe('CreateContainerConfigError');
    await shows('late', 'other');
    await kubectl.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' }, data: { K: 'here' } });
    await shows('late', 'k=here', 'c1');
  }, 60_000);

  test('a default pod has its token, authority and namespace, in memory where that can be', async () => {
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
    await kubectl.create(
      bound(
        'default',
        [sh(`cut -c1-3 ${folder}/token; head -1 ${folder}/ca.crt; cat ${folder}/namespace; echo; ${WAITS}`)],
        {
          automountServiceAccountToken: true,
        },
      ),
    );
    await shows('default', 'default');
    expect(await logOf('default')).toMatch(/^eyJ$[^]*BEGIN CERTIFICATE[^]*^default$/m);
  }, 60_000);

  test('B105 a change of a configMap shows in its volume within moments, a change of labels too', async () => {
    const volumes = [
      { name: 'v', configMap: { name: 'settings' } },
      { name: 'info', downwardAPI: { items: [{ path: 'app', fieldRef: { fieldPath: "metadata.labels['app']" } }] } },
    ];
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
    await kubectl.create(bound('files', [{ ...sh(WAITS), volumeMounts }], { volumes }));
    await daemon.until('it runs', async () => (await get('files', '.status.phase')) === 'Running');
    const file = await volumeFile('files', 'kubernetes.io~configmap', 'v', 'COLOR');
    expect(await readFile(file, 'utf8')).toBe('red');
    await kubectl.run('patch', 'configmap', 'settings', '-p', '{"data":{"COLOR":"blue"}}');
    await daemon.until('the file is new', async () => (await readFile(file, 'utf8')) === 'blue');
    await kubectl.run('label', 'pod', 'files', '--overwrite', 'app=other');
    const label = await volumeFile('files', 'kubernetes.io~downward-api', 'info', 'app');
    await daemon.until('the label is new', async () => (await readFile(label, 'utf8')) === 'other');
  }, 60_000);

  test('a volume that cannot be set up is told as FailedMount, and is set up once its object is there', async () => {
    const volumes = [{ name: 'v', secret: { secretName: 'none' } }];
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    await kubectl.create(bound('mount', [{ ...sh(WAITS), volumeMounts }], { volumes }));
    const events = () => kubectl.run('get', 'events', '--field-selector', 'reason=FailedMount', '-o', 'yaml');
    await daemon.until('it is told', async () =>
      (await events()).includes('MountVolume.SetUp failed for volume "v" : secret "none" not found'),
    );
    expect(await get('mount', '.status.containerStatuses[0].state.waiting.reason')).toBe('ContainerCreating');
    await kubectl.run('create', 'secret', 'generic', 'none', '--from-literal=a=b');
    await daemon.until('it runs', async () => (await get('mount', '.status.phase')) === 'Running');
  }, 60_000);

  test('B075 a container that ends while the API server is away starts again, after a restart of the agent too', async () => {
    const keyRef = { name: 'keys', key: 'PASSWORD' };
    const env = [{ name: 'SECRET', valueFrom: { secretKeyRef: keyRef } }];
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
    const script = `echo "run \${#SECRET} $(cut -c1-3 ${folder}/token) $WEB_FRONT_SERVICE_HOST"; sleep 2; exit 1`;
    await kubectl.create(
      bound('crash', [{ ...sh(script), envFrom: [{ configMapRef: { name: 'settings' } }], env }], {
        automountServiceAccountToken: true,
      }),
    );
    await shows('crash', `run ${PASSWORD.length} eyJ 10.96.0.20`);
    const starts = async () => (await daemon.status('crash'))?.containerStatuses?.[0]?.restartCount ?? 0;
    const startsAgain = async () => {
      const before = await starts();
      await daemon.until('it starts again', async () => (await starts()) > before, 60_000);
      const last = async () => (await logOf('crash')).trim().split('\n').at(-1);
      await daemon.until('it is told all', async () => (await last()) === `run ${PASSWORD.length} eyJ 10.96.0.20`);
    };
    const back = api.faults.add({ username: `system:node:${NODE_NAME}`, drop: 'before' });
    api.cutWatches();
    await startsAgain();
    await daemon.kill9();
    await rm(join(daemon.rootDir, 'statelet/inspect.url'));
    await daemon.start();
    await look();
    await startsAgain();
    expect(daemon.log).toContain('the object is used as it was last seen');
    back();
  }, 150_000);

  test('what is secret is in no log, event, status or view of the agent, and in files for its owner alone', async () => {
    const encoded = Buffer.from(PASSWORD).toString('base64');
    const token = await readFile(await tokenFile('default'), 'utf8');
    const views = [
      daemon.log,
      await kubectl.run('get', 'events,pods', '-A', '-o', 'yaml'),
      (await daemon.command('ps', `--root-dir=${daemon.rootDir}`)).stdout,
      JSON.stringify([...(await daemon.pods())]),
      (await daemon.command('history', `--root-dir=${daemon.rootDir}`, '--json')).stdout,
      (await daemon.command('explain', 'pod', 'default/crash', `--root-dir=${daemon.rootDir}`, '--json')).stdout,
      ...viewers.map(({ heard }) => JSON.stringify(heard)),
    ];
    const kinds = new Set(viewers.flatMap(({ heard }) => heard.map(({ type }) => type)));
    for (const kind of ['actor', 'context', 'explanation', 'history']) expect(kinds).toContain(`statelet.${kind}`);
    for (const kind of ['register', 'state', 'event']) expect(kinds).toContain(`service.${kind}`);
    for (const secret of [PASSWORD, encoded, token]) {
      expect(secret.length).toBeGreaterThan(8);
      for (const view of views) expect(view).not.toContain(secret);
    }
    const kept = join(daemon.rootDir, 'statelet', 'secrets');
    expect((await stat(kept)).mode & 0o777).toBe(0o700);
    const files = (await readdir(kept, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) expect((await stat(join(file.parentPath, file.name))).mode & 0o777).toBe(0o600);
  }, 60_000);

  test('what was kept goes with the pods that it was kept for', async () => {
    await kubectl.run('delete', 'pods', '--all', '--timeout=60s');
    const kept = join(daemon.rootDir, 'statelet', 'secrets');
    await daemon.until('nothing is kept', async () =>
      (await readdir(kept, { recursive: true, withFileTypes: true })).every((entry) => entry.isDirectory()),
    );
  }, 120_000);
});

async function tokenFile(pod: string): Promise<string> {
  const folder = await volumeFile(pod, 'kubernetes.io~projected');
  const [volume = ''] = await readdir(folder);
  return join(folder, volume, 'token');
}
