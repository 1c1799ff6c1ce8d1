import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ActorRefFrom } from 'xstate';
import { decodeManifest } from '../machines/syncloop/policy/decode-pod.ts';
import type { syncloopMachine } from '../machines/syncloop/syncloop.machine.ts';
import { connectCri } from '../services/cri/client.ts';
import { ownerOf } from '../services/cri/owner.ts';
import { listPodSandbox } from '../services/cri/verbs/list-pod-sandbox.ts';
import { status } from '../services/cri/verbs/status.ts';
import { version } from '../services/cri/verbs/version.ts';
import { nodeInfo } from '../services/host/index.ts';
import { readManifests } from '../services/host/manifests/index.ts';
import type { LoadedConfig } from './config/load-config.ts';
import { makeDirectory } from '../services/host/make-directory.ts';

/** The runtime that the quick start runs on, and how its pods are shown. */
export interface Quickstart {
  endpoint: string;
  show(agent: ActorRefFrom<typeof syncloopMachine>): void;
  /** Ends the embedded runtime with its processes; leaves containerd as it is. */
  stop(): Promise<void>;
}

/** Longest wait for each answer of a containerd that may be there, ms. */
const PROBE_MS = 2_000;

/**
 * For `--quickstart`: containerd where one answers, is ready and has no pods of anybody else, for an agent ends pods that
 * it was not told of; else the embedded runtime in this process. Says which and why.
 */
export async function quickstart(loaded: LoadedConfig, log: Logger): Promise<Quickstart> {
  // A terminal that was closed, or a reader that went away, ends no agent.
  process.stdout.on('error', () => undefined);
  const endpoint = loaded.config.containerRuntimeEndpoint;
  const reason = await unusable(endpoint, () => namesOf(loaded));
  if (reason === undefined) {
    say(`Running the examples on the runtime at ${endpoint}.`);
    return { endpoint, show, stop: async () => say('The containers go on running; start again to adopt them.') };
  }
  say(`Running the examples on the embedded runtime, as plain processes: ${reason}.`);
  const { startEmbeddedRuntime } = await import('../services/cri/embedded/index.ts');
  const stateDir = join(loaded.flags.rootDir, 'embedded');
  await makeDirectory(stateDir);
  const sockets = await mkdtemp(join(tmpdir(), 'statelet-'));
  const runtime = await startEmbeddedRuntime({
    socketPath: join(sockets, 'cri.sock'),
    stateDir,
    logger: log.child({}, { level: 'warn' }),
  });
  const stop = async () => {
    await runtime.stop();
    await rm(sockets, { recursive: true, force: true });
  };
  return { endpoint: runtime.endpoint, show, stop };
}

/** Names of the pods that the manifests describe, as `namespace/name`. */
async function namesOf({ config, flags }: LoadedConfig): Promise<Set<string>> {
  const nodeName = flags.hostnameOverride || (await nodeInfo()).nodeName;
  const manifests = await readManifests(config.staticPodPath, {}, new AbortController().signal);
  const pods = manifests.flatMap(
    ({ text, origin }) => decodeManifest(text ?? '', origin, { nodeName, source: 'file' }).pods,
  );
  return new Set(pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
}

/** Why the runtime at the endpoint is not used; undefined where it can be. */
async function unusable(endpoint: string, names: () => Promise<ReadonlySet<string>>): Promise<string | undefined> {
  const cri = connectCri({ runtimeEndpoint: endpoint, runtimeRequestTimeoutMs: PROBE_MS });
  try {
    const { runtimeName } = await version(cri);
    const lacking = (await status(cri)).status?.conditions.filter((condition) => !condition.status) ?? [];
    if (lacking.length) return `${runtimeName} says ${lacking.map((c) => `${c.type}: ${c.message}`).join(', ')}`;
    const owners = (await listPodSandbox(cri, {})).map(({ labels }) => ownerOf(labels));
    if (owners.length === 0) return undefined;
    const own = await names();
    const foreign = owners.filter((o) => !o || !own.has(`${o.namespace}/${o.name}`)).length;
    return foreign ? `${runtimeName} already runs ${foreign} pods of somebody else` : undefined;
  } catch (error) {
    return `no runtime answers at ${endpoint} (${(error as Error).message})`;
  } finally {
    cri.close();
  }
}

/** One line for each phase that a pod reaches. */
function show(agent: ActorRefFrom<typeof syncloopMachine>): void {
  const shown = new Map<string, string>();
  agent.subscribe(({ context }) => {
    for (const { uid, name, namespace, status: now } of Object.values(context.entries)) {
      if (!now) continue;
      const ready = now.conditions?.some((c) => c.type === 'Ready' && c.status === 'True');
      const line = `${namespace}/${name} is ${now.phase}${ready ? ' and ready' : ''}`;
      if (shown.get(uid) !== line) say(line);
      shown.set(uid, line);
    }
  });
}

function say(line: string): void {
  process.stdout.write(`statelet: ${line}\n`);
}
