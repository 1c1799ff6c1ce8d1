import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Daemon } from '../support/daemon.ts';
import { EmbeddedProcess } from '../support/embedded-process.ts';
import { FOREVER, shellPod } from '../support/pods.ts';
import { tearDown } from '../support/tear-down.ts';
import { Hearing, inspectorUrl } from '../inspect/watched.ts';

let runtime: EmbeddedProcess;
let daemon: Daemon;
const clients: Hearing[] = [];

beforeAll(async () => {
  runtime = await EmbeddedProcess.start();
  daemon = await Daemon.start({ endpoint: runtime.endpoint, flags: ['--inspect=0'] });
}, 60_000);

afterAll(async () => {
  for (const client of clients) client.close();
  await tearDown(
    () => daemon?.discard(),
    () => runtime?.discard(),
  );
}, 60_000);

const connect = async (query: string) => {
  const client = new Hearing((await inspectorUrl(daemon.rootDir))(query));
  clients.push(client);
  return client.opened();
};

interface Shown {
  machine: string;
  state: string;
  about?: { name: string };
}

test('the inspector of a running agent shows its actors, and a pod as it starts', async () => {
  const client = await connect('&only=statelet');
  const { actors } = await client.until('statelet.actors');
  expect((actors as Shown[]).map(({ machine }) => machine)).toEqual(expect.arrayContaining(['syncloop', 'pleg']));
  await daemon.put(shellPod('watched', FOREVER));
  const running = await client.until('statelet.actor', ({ actor }) => {
    const { machine, state } = actor as Shown;
    return machine === 'container' && state === 'running';
  });
  expect((running['actor'] as Shown).about).toMatchObject({ kind: 'container', container: expect.any(String) });
  const page = await fetch((await readFile(join(daemon.rootDir, 'statelet/inspect.url'), 'utf8')).trim());
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test("@xstate/inspect's messages about it begin with its machines", async () => {
  const client = await connect('&only=xstate');
  client.send({ type: 'xstate.inspecting' });
  const { machine, state } = await client.until('service.register', (m) => String(m['machine']).includes('"id":"pod"'));
  expect(JSON.parse(String(machine))).toMatchObject({ id: 'pod', states: { syncing: {} } });
  expect(JSON.parse(String(state))).toMatchObject({ value: { syncing: 'active' } });
});

test('an address that is not loopback is refused, and so is writing without an inspector', async () => {
  const refused = (flag: string) => daemon.command('run', flag).then(({ stderr }) => stderr, String);
  expect(await refused('--inspect=0.0.0.0:10270')).toContain(
    '--inspect: "0.0.0.0:10270" is not a loopback address or a port: accepted are localhost, ::1 and addresses that begin with 127',
  );
  expect(await refused('--inspect-write')).toContain(
    '--inspect-write: needs the inspector: accepted is it together with --inspect',
  );
});
