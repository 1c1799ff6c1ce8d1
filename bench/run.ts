import { spawn, type ChildProcess } from 'node:child_process';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connectCri } from '../services/cri/client.ts';
import { listPodSandbox } from '../services/cri/verbs/list-pod-sandbox.ts';
import { startContainerd } from '../test/support/containerd.ts';
import { alive, allGone, exitsOnce, Folder, live, median, now, tellsTerm, usage } from './pods.ts';
import { Floor } from './raw.ts';
import { plusRaw, Table, timesRaw } from './table.ts';

/**
 * The agent beside the raw CRI calls, on a containerd of its own, in one run: `npm run bench`. Medians and ratios; needs
 * root and Debian's containerd. `--only start,exit` picks rows, `--pods 100` sets the size of the large burst.
 */
const { values } = parseArgs({
  options: { only: { type: 'string' }, pods: { type: 'string', default: '100' }, n: { type: 'string', default: '15' } },
});
const only = values.only?.split(',');
const N = Number(values.n);
const PODS = Number(values.pods);
const IDLE_SECONDS = 60;

const base = await mkdtemp(join(tmpdir(), 'statelet-bench-'));
const out = join(base, 'out');
const manifests = join(base, 'manifests');
await mkdir(out);
await mkdir(manifests);
const folder = new Folder(manifests, out);
const containerd = await startContainerd(join(base, 'containerd'));
const cri = connectCri({ runtimeEndpoint: containerd.endpoint, runtimeRequestTimeoutMs: 120_000 });
const floor = await Floor.start(join(base, 'floor'), folder);
const table = new Table();
let daemon: { child: ChildProcess; startedAt: number } | undefined;

const PORT = 10_248 + 1_000 + Math.floor(Math.random() * 500);
function startAgent(): number {
  const startedAt = now();
  const args = [
    'run',
    `--container-runtime-endpoint=${containerd.endpoint}`,
    `--root-dir=${join(base, 'root')}`,
    `--pod-manifest-path=${manifests}`,
    `--config=${join(base, 'config.yaml')}`,
    `--healthz-port=${PORT}`,
    `--read-only-port=${PORT + 1}`,
    '--fail-cgroupv1=false',
    '--address=127.0.0.1',
    `--container-logs-dir=${join(base, 'links')}`,
  ];
  const child = spawn(process.execPath, [join(import.meta.dirname, '../bin/run.js'), ...args], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const log: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => log.push(chunk));
  child.on('exit', (code) => {
    if (code) process.stderr.write(Buffer.concat(log).subarray(-4000));
  });
  daemon = { child, startedAt };
  return startedAt;
}
/** Until the runtime has nothing left of what was removed: its clean-up would slow the next measurement. */
async function cleared(): Promise<void> {
  while ((await listPodSandbox(cri, {})).length > 0) await sleep(50);
}
async function stopAgent(): Promise<void> {
  const { child } = daemon ?? {};
  daemon = undefined;
  if (!child || child.exitCode !== null) return;
  child.kill('SIGTERM');
  await new Promise((done) => child.once('exit', done));
}
const fetchText = (path: string, port = PORT) =>
  fetch(`http://127.0.0.1:${port}${path}`).then(
    (r) => r.text(),
    () => '',
  );
async function healthy(): Promise<number> {
  while ((await fetchText('/healthz')) !== 'ok') await sleep(5);
  return now();
}
async function readyPods(prefix: string, n: number): Promise<number> {
  for (;;) {
    const text = await fetchText('/pods', PORT + 1);
    const items = text ? (JSON.parse(text) as { items: PodItem[] }).items : [];
    const ready = items.filter(
      (p) =>
        p.metadata.name.startsWith(prefix) &&
        p.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True'),
    );
    if (ready.length >= n) return now();
    await sleep(50);
  }
}
interface PodItem {
  metadata: { name: string };
  status?: { conditions?: { type: string; status: string }[] };
}

const wanted = (name: string) => !only || only.includes(name);
const names = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}-${i}`);

await writeFile(
  join(base, 'config.yaml'),
  `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
podLogsDir: ${join(base, 'logs')}
cgroupRoot: /
failSwapOn: false
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
`,
);

/** A signal ends the run; what was started goes with it. */
let ending: Promise<void> | undefined;
const end = () => (ending ??= cleanUp());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void end().finally(() => process.exit(130)));
async function cleanUp(): Promise<void> {
  await stopAgent();
  cri.close();
  await containerd.stop();
  await floor.stop();
  await access(base);
  await rm(base, { recursive: true, force: true });
}

try {
  startAgent();
  await healthy();
  if (wanted('start')) {
    const times: number[] = [];
    const raws: number[] = [];
    for (const name of names('start', N)) {
      raws.push((await floor.one()).total);
      const at = await folder.put(name, live(name));
      times.push((await folder.made(`${name}.0`)) - at);
      await sleep(500);
    }
    const p50 = median(times);
    const raw = median(raws);
    table.row(
      'manifest renamed in → its process runs, p50',
      raw,
      timesRaw(p50, raw),
      '≤ 1.15 × raw',
      p50 <= 1.15 * raw,
    );
    for (const name of names('start', N)) await folder.remove(name);
    await cleared();
  }
  if (wanted('exit')) {
    const times: number[] = [];
    const raws: number[] = [];
    const atOnce: number[] = [];
    for (const name of names('exit', N)) {
      raws.push((await floor.one()).restart);
      atOnce.push(await floor.restarted());
      await folder.put(name, exitsOnce(name));
      const exited = await folder.made(`${name}.x`);
      times.push((await folder.made(`${name}.1`)) - exited);
      await folder.remove(name);
      await cleared();
    }
    const p50 = median(times);
    const raw = median(raws);
    table.row('exit → successor runs, first restart, p50', raw, plusRaw(p50, raw), 'raw + 40', p50 <= raw + 40);
    const least = median(atOnce);
    table.row(
      'the same, beside raw calls made at once when containerd tells of the exit',
      least,
      plusRaw(p50, least),
      '–',
    );
  }
  if (wanted('stop')) {
    const terms: number[] = [];
    const gones: number[] = [];
    for (const name of names('stop', Math.ceil(N / 2))) {
      await folder.put(name, tellsTerm(name));
      await folder.made(`${name}.0`);
      await sleep(1000);
      const at = await folder.remove(name);
      terms.push((await folder.made(`${name}.t`)) - at);
      gones.push((await allGone(`${name}.`)) - at);
      await cleared();
    }
    table.row('manifest removed → TERM, p50', undefined, median(terms).toFixed(0), '–');
    table.row('manifest removed → process gone, p50', undefined, median(gones).toFixed(0), '–');
  }
  for (const n of new Set([30, PODS])) {
    if (!wanted(`burst${n}`) && !wanted('burst')) continue;
    const all = names(`burst${n}`, n);
    const before = await floor.burst(n);
    const at = now();
    await Promise.all(all.map((name) => folder.put(name, live(name))));
    const ran = await Promise.all(all.map(async (name) => (await folder.made(`${name}.0`)) - at));
    const last = Math.max(...ran);
    const first = Math.min(...ran);
    const raw = (before + (await floor.burst(n))) / 2;
    table.row(`burst of ${n}: last process runs`, raw, timesRaw(last, raw), '≤ 1.1 × raw', last <= 1.1 * raw);
    table.row(`burst of ${n}: first process runs`, undefined, first.toFixed(0), '≤ 600', first <= 600);
    if (n === PODS) break;
    for (const name of all) await folder.remove(name);
    await cleared();
  }
  if (wanted(`burst${PODS}`) || wanted('burst')) {
    await readyPods(`burst${PODS}-`, PODS);
    if (wanted('idle')) {
      await sleep(5000);
      const pid = daemon?.child.pid ?? 0;
      const before = await usage(pid);
      await sleep(IDLE_SECONDS * 1000);
      const after = await usage(pid);
      const percent = ((after.cpuSeconds - before.cpuSeconds) / IDLE_SECONDS) * 100;
      table.row(
        `idle, ${PODS} running pods`,
        undefined,
        `${percent.toFixed(2)} % of a core, ${after.rssMiB.toFixed(0)} MiB`,
        '≤ 1 %, ≤ 120 MiB',
        percent <= 1 && after.rssMiB <= 120,
      );
    }
    if (wanted('restart')) {
      await stopAgent();
      const pids = (await alive(`burst${PODS}-`)).sort().join();
      const at = startAgent();
      const ready = (await readyPods(`burst${PODS}-`, PODS)) - at;
      const { cpuSeconds } = await usage(daemon?.child.pid ?? 0);
      const same = (await alive(`burst${PODS}-`)).sort().join() === pids;
      table.row(
        `restart with ${PODS} running pods → all known Ready`,
        undefined,
        `${ready.toFixed(0)}, ${cpuSeconds.toFixed(1)} CPU s${same ? '' : ', PROCESSES CHANGED'}`,
        '≤ 1,000, ≤ 2 CPU s',
        same && ready <= 1000 && cpuSeconds <= 2,
      );
    }
    for (const name of names(`burst${PODS}`, PODS)) await folder.remove(name);
    const at = now();
    table.row(
      `${PODS} manifests removed → all gone`,
      undefined,
      ((await allGone(`burst${PODS}-`)) - at).toFixed(0),
      '–',
    );
    await cleared();
  }
  if (wanted('cold')) {
    await stopAgent();
    const times: number[] = [];
    const raws: number[] = [];
    for (const name of names('cold', 5)) {
      raws.push((await floor.one()).total);
      await folder.put(name, live(name));
      const at = startAgent();
      times.push((await folder.made(`${name}.0`)) - at);
      await folder.remove(name);
      await cleared();
      await stopAgent();
    }
    const p50 = median(times);
    const raw = median(raws);
    table.row("agent exec → first static pod's process runs", raw, plusRaw(p50, raw), '≤ raw + 600', p50 <= raw + 600);
  }
  table.print();
} finally {
  await end();
}
