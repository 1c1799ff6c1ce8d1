import { access, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connectCri } from '../services/cri/client.ts';
import { listPodSandbox } from '../services/cri/verbs/list-pod-sandbox.ts';
import { builtAgent } from '../test/support/built.ts';
import { startContainerd } from '../test/support/containerd.ts';
import { Agent } from './agent.ts';
import { ApiProcess, seen } from './api-server.ts';
import { alive, ended, Folder, manifest, median, now, tellsTerm, usage } from './pods.ts';
import { Floor } from './raw.ts';
import { plusRaw, Table, timesRaw } from './table.ts';

/**
 * The agent in a cluster beside the raw CRI calls, in one run: `npm run bench:cluster`. API server and containerd are its
 * own, each a process by itself. Medians; needs root and Debian's containerd.
 *
 * --only ready,pod,token,burst,idle picks rows; --n is how often each is measured, --pods the size of the large burst,
 * --trace a file that gets the agent's log with every state that it enters (that costs time: not for figures).
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    n: { type: 'string', default: '15' },
    pods: { type: 'string', default: '100' },
    trace: { type: 'string' },
  },
});
const ROWS = ['ready', 'pod', 'token', 'burst', 'idle'];
const only = values.only?.split(',') ?? ROWS;
const N = number('n');
const PODS = number('pods');
const NODE = 'bench';
const IDLE_SECONDS = 60;
/** Until statuses, events and the node's list of images are written after a burst, s. */
const SETTLE_SECONDS = 15;
const SMALL = 30;

function number(name: 'n' | 'pods'): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name}: ${values[name]}: a positive whole number`);
  return value;
}
const unknown = only.filter((name) => !ROWS.includes(name));
if (unknown.length > 0) throw new Error(`--only: ${unknown.join()}: some of ${ROWS.join()}`);
const wanted = (name: string) => only.includes(name);
const names = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}-${i}`);

const table = new Table();
/** What is to be undone when the run ends, newest first. */
const undo: (() => Promise<unknown>)[] = [];
let ending: Promise<void> | undefined;
const end = () => (ending ??= cleanUp());
async function cleanUp(): Promise<void> {
  for (let step = undo.pop(); step; step = undo.pop())
    await step().catch((error: unknown) => {
      process.exitCode = 1;
      console.error(error);
    });
}
/** What starts is stopped too when the run ends before it has started. */
function undone<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const started = starting.catch(() => undefined);
  undo.push(async () => (await started)?.stop());
  return starting;
}
/** A signal or a failure outside of the run's own steps ends it; what was started goes with it. */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void end().finally(() => process.exit(130)));
process.once('uncaughtException', (error) => {
  console.error(error);
  void end().finally(() => process.exit(1));
});

try {
  await measure();
} finally {
  await end();
}

async function measure(): Promise<void> {
  const run = await builtAgent();
  const base = await mkdtemp(join(tmpdir(), 'statelet-bench-'));
  undo.push(async () => {
    await access(base);
    await rm(base, { recursive: true, force: true });
  });
  const out = join(base, 'out');
  await mkdir(out);
  const folder = new Folder(out, out);
  const containerd = await undone(startContainerd(join(base, 'containerd')));
  const cri = connectCri({ runtimeEndpoint: containerd.endpoint, runtimeRequestTimeoutMs: 120_000 });
  undo.push(() => Promise.resolve(cri.close()));
  const floor = await undone(Floor.start(join(base, 'floor'), folder));
  const api = await undone(ApiProcess.start(join(base, 'api'), NODE));
  const agent = new Agent({
    run,
    directory: join(base, 'agent'),
    endpoint: containerd.endpoint,
    kubeconfig: api.nodeConfig,
    node: NODE,
    trace: values.trace,
  });
  undo.push(async () => {
    await agent.stop();
    await agent.forget();
  });

  /** Bound already, as the scheduler leaves it. */
  const pod = (name: string, hasToken = false) => {
    const { spec, ...rest } = manifest(name, tellsTerm(name), out) as { spec: object };
    return { ...rest, spec: { nodeName: NODE, automountServiceAccountToken: hasToken, ...spec } };
  };
  /** Until the runtime has nothing left of what was removed: its clean-up would slow the next measurement. */
  const cleared = async () => {
    while ((await listPodSandbox(cri, {})).length > 0) await sleep(50);
  };
  const cpu = async () => ({
    agent: (await usage(agent.pid)).cpuSeconds,
    api: (await usage(api.pid)).cpuSeconds,
  });

  const sizes = wanted('burst') ? [...new Set([Math.min(SMALL, PODS), PODS])] : wanted('idle') ? [PODS] : [];

  await startNew();
  if (wanted('ready')) await measureReady();
  if (wanted('pod')) await measurePods('', 'pod', false);
  if (wanted('token')) await measurePods(', with a service account token', 'token', true);
  for (const n of sizes) await measureBurst(n);
  table.print();

  /** An agent of a node that the API does not know: from its execution until the API says that the node is Ready, ms. */
  async function startNew(): Promise<number> {
    const ready = api.when('Node', NODE, seen.ready);
    const at = await agent.start();
    return (await ready) - at;
  }

  async function measureReady(): Promise<void> {
    const times: number[] = [];
    for (let i = 0; i < N; i += 1) {
      await agent.stop();
      await agent.forget();
      await api.removeNode(NODE);
      times.push(await startNew());
    }
    table.row('agent exec → new Node Ready in the API, p50', undefined, median(times).toFixed(0), 'the kubelet: 1,000');
  }

  async function measurePods(what: string, prefix: string, hasToken: boolean): Promise<void> {
    const times = { start: [] as number[], shown: [] as number[], term: [] as number[] };
    const ends = { process: [] as number[], object: [] as number[] };
    const raws: number[] = [];
    const wholes: number[] = [];
    const before = await cpu();
    for (const name of names(prefix, N)) {
      raws.push((await floor.one()).total);
      wholes.push((await floor.one('all')).total);
      const shown = api.when('Pod', name, seen.running);
      const at = await api.create(pod(name, hasToken));
      const ran = await folder.made(`${name}.0`);
      times.start.push(ran - at);
      times.shown.push((await shown) - ran);
      await sleep(1000);
      const pids = await alive(`${name}.`);
      const gone = api.when('Pod', name, seen.gone);
      const asked = await api.remove(name);
      ends.process.push((await ended(pids)) - asked);
      ends.object.push((await gone) - asked);
      times.term.push((await folder.made(`${name}.t`)) - asked);
      await cleared();
    }
    const after = await cpu();
    const [start, raw] = [median(times.start), median(raws)];
    const shown = median(times.shown);
    const object = median(ends.object);
    const plus = plusRaw(start, raw);
    table.row(`created in the API${what} → its process runs, p50`, raw, plus, '≤ raw + 60', start <= raw + 60);
    const whole = median(wholes);
    table.row('the same, beside raw calls that ask for all that the pod gets', whole, plusRaw(start, whole), '–');
    if (hasToken) return;
    table.row('process runs → Running seen by a watch, p50', undefined, shown.toFixed(0), '≤ 100', shown <= 100);
    table.row('deleted in the API → TERM, p50', undefined, median(times.term).toFixed(0), '–');
    table.row('deleted in the API → process gone, p50', undefined, median(ends.process).toFixed(0), '–');
    table.row(
      'deleted in the API → object gone, p50',
      undefined,
      object.toFixed(0),
      'the kubelet: 1,100',
      object <= 1100,
    );
    const each = (side: 'agent' | 'api') => (((after[side] - before[side]) * 1000) / N).toFixed(0);
    table.row('CPU of a pod, created to gone', undefined, `agent ${each('agent')}, API server ${each('api')}`, '–');
  }

  /** The pods of the large burst stay for what is measured of an idle agent, and go at the end. */
  async function measureBurst(n: number): Promise<void> {
    const all = names(`burst${n}`, n);
    const rawBefore = wanted('burst') ? await floor.burst(n) : 0;
    const ready = all.map((name) => api.when('Pod', name, seen.ready));
    const before = await cpu();
    const at = now();
    await Promise.all(all.map((name) => api.create(pod(name))));
    const ran = await Promise.all(all.map(async (name) => (await folder.made(`${name}.0`)) - at));
    const last = Math.max(...ran);
    const shown = Math.max(...(await Promise.all(ready))) - at;
    const after = await cpu();
    if (wanted('burst')) {
      const raw = (rawBefore + (await floor.burst(n))) / 2;
      const times = timesRaw(last, raw);
      table.row(`${n} created at once: last process runs`, raw, times, '≤ 1.1 × raw', last <= 1.1 * raw);
      table.row(`${n} created at once: first process runs`, undefined, Math.min(...ran).toFixed(0), '–');
      table.row(`${n} created at once: last is seen Ready`, undefined, shown.toFixed(0), '–');
      const spent = (side: 'agent' | 'api') => ((after[side] - before[side]) * 1000).toFixed(0);
      table.row(`${n} created at once: CPU`, undefined, `agent ${spent('agent')}, API server ${spent('api')}`, '–');
    }
    if (n === PODS && wanted('idle')) await measureIdle();
    const gone = all.map((name) => api.when('Pod', name, seen.gone));
    const pids = await alive(`burst${n}-`);
    const asked = now();
    const processesGone = ended(pids);
    await Promise.all(all.map((name) => api.remove(name)));
    const processes = (await processesGone) - asked;
    const objects = Math.max(...(await Promise.all(gone))) - asked;
    const both = `${processes.toFixed(0)}, ${objects.toFixed(0)}`;
    if (wanted('burst')) table.row(`${n} deleted at once → last process gone, last object gone`, undefined, both, '–');
    await cleared();
  }

  async function measureIdle(): Promise<void> {
    await sleep(SETTLE_SECONDS * 1000);
    const [before, from] = [await cpu(), Date.now()];
    await sleep(IDLE_SECONDS * 1000);
    const [after, { rssMiB }] = [await cpu(), await usage(agent.pid)];
    const asked = await api.askedSince(from, NODE);
    const isHeartbeat = ({ resource }: { resource: string }) => /^(leases|nodes|nodes\/status)$/.test(resource);
    const others = asked.filter((each) => !isHeartbeat(each));
    const kinds = Object.entries(Object.groupBy(others, ({ verb, resource }) => `${verb} ${resource}`));
    const told = kinds.map(([kind, each = []]) => `${each.length} ${kind}`).join(', ');
    const rate = others.length / IDLE_SECONDS;
    const percent = ((after.agent - before.agent) / IDLE_SECONDS) * 100;
    const what = `idle, ${PODS} running pods`;
    const beside = `(${told || 'none'}; ${asked.length - others.length} of lease and node)`;
    table.row(`${what}: API requests a second`, undefined, `${rate.toFixed(2)} ${beside}`, '≤ 0.2', rate <= 0.2);
    table.row(`${what}: memory, MiB`, undefined, rssMiB.toFixed(0), '≤ 130', rssMiB <= 130);
    table.row(`${what}: % of a core`, undefined, percent.toFixed(2), '≤ 1', percent <= 1);
  }
}
