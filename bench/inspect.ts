import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { Daemon } from '../test/support/daemon.ts';
import { EmbeddedProcess } from '../test/support/embedded-process.ts';
import { FOREVER, shellPod } from '../test/support/pods.ts';
import { usage } from './pods.ts';

/**
 * What the inspector costs an agent with 100 pods on the embedded runtime, a tenth of which end and are run again each few
 * seconds: `node bench/inspect.ts`, `--only client` for the cases with that in their names. CPU of the agent's process in percent of a core, resident memory in MiB.
 */
const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
  },
});
const PODS = Number(values.pods);
const SECONDS = Number(values.seconds);

interface Case {
  name: string;
  flags: string[];
  /** Queries of the sockets to open, and whether they are read. */
  clients: { query: string; reads: boolean }[];
}

const cases: Case[] = [
  { name: 'without --inspect', flags: [], clients: [] },
  { name: 'with it, no client', flags: ['--inspect=0'], clients: [] },
  { name: 'one page that reads', flags: ['--inspect=0'], clients: [{ query: '&only=statelet', reads: true }] },
  { name: 'one @xstate/inspect receiver', flags: ['--inspect=0'], clients: [{ query: '&only=xstate', reads: true }] },
  { name: 'one client that never reads', flags: ['--inspect=0'], clients: [{ query: '', reads: false }] },
];

function open(daemon: Daemon, { query, reads }: Case['clients'][number]): WebSocket {
  const url = readFileSync(join(daemon.rootDir, 'statelet/inspect.url'), 'utf8').trim();
  const socket = new WebSocket(`${url.replace('http', 'ws').replace('/?', '/ws?')}${query}`);
  socket.on('open', () => {
    if (query !== '&only=statelet') socket.send('{"type":"xstate.inspecting"}');
    if (!reads) socket.pause();
  });
  socket.on('error', (error) => process.stderr.write(`client: ${error.message}\n`));
  return socket;
}

async function measure({ flags, clients }: Case): Promise<[number, number]> {
  const runtime = await EmbeddedProcess.start();
  const directory = await mkdtemp(join(tmpdir(), 'statelet-bench-inspect-'));
  const daemon = await Daemon.start({ endpoint: runtime.endpoint, flags, directory });
  const sockets: WebSocket[] = [];
  try {
    for (let i = 0; i < PODS; i += 1) await daemon.put(shellPod(`pod-${i}`, i % 10 === 0 ? 'sleep 5' : FOREVER));
    while ([...(await daemon.pods()).values()].filter(({ status }) => status.phase === 'Running').length < PODS * 0.9)
      await sleep(500);
    await sleep(10_000);
    for (const client of clients) sockets.push(open(daemon, client));
    await sleep(5_000);
    const before = await usage(daemon.pid);
    await sleep(SECONDS * 1000);
    const after = await usage(daemon.pid);
    return [((after.cpuSeconds - before.cpuSeconds) / SECONDS) * 100, after.rssMiB];
  } finally {
    for (const socket of sockets) socket.terminate();
    await daemon.discard();
    await runtime.discard();
    await rm(directory, { recursive: true, force: true });
  }
}

// The processes that it starts do not keep this one.
const awake = setInterval(() => undefined, 60_000);
process.stdout.write(
  '| with 100 pods | CPU, % of a core | memory, MiB |\n| --- | --- | --- |\n'.replace('100', `${PODS}`),
);
for (const one of cases.filter(({ name }) => name.includes(values.only))) {
  const [cpu, memory] = await measure(one);
  process.stdout.write(`| ${one.name} | ${cpu.toFixed(2)} | ${memory.toFixed(0)} |\n`);
}
clearInterval(awake);
