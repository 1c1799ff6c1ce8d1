import { createActor } from 'xstate';
import type { RecordedEvent } from '../machines/agent.types.ts';
import { connectCri } from '../services/cri/client.ts';
import { cgroupDriverOf } from '../services/cri/cgroup-driver.ts';
import { hostResolver } from '../services/cri/host-resolver.ts';
import type { CgroupSettings } from '../services/host/host.types.ts';
import { Observer } from '../services/cri/observe.ts';
import { Turns } from '../services/cri/turns.ts';
import {
  applyOomScoreAdj,
  createFactStore,
  createPodHost,
  hostFactsReader,
  hostWithoutAddresses,
  isCgroupV2,
  nodeInfo,
  podFacts,
} from '../services/host/index.ts';
import { longTimers } from '../services/timers.ts';
import { apiServer, nodeSettings, nodeView, startNotices } from './node-settings.ts';
import { showAgent } from './show-agent.ts';
import { agentView } from './agent-view.ts';
import { agentClock } from './clock.ts';
import { durationMs } from './config/duration.ts';
import type { LoadedConfig } from './config/load-config.ts';
import { liveAgent } from './live.ts';
import { createLogger } from './logger.ts';
import { agentMachine } from './machine.ts';
import { podObjects } from './pod-objects.ts';
import { makeRootDir } from './root-dir.ts';
import { listenForSignals } from './signals.ts';
import { cgroupSettings, configSettings, hostPaths, podSources, pullSettings, syncloopSettings } from './settings.ts';

/** Longest wait for calls in flight when the agent is asked to stop, ms. */
const SETTLE_MS = 5_000;

/**
 * The composition root: configuration → log → clients → slots → machines → the root actor, and the servers that show it.
 * Resolves when the agent has drained; containers go on running.
 *
 * @throws AgentError where the agent cannot start with this configuration on this node
 */
export async function runAgent(loaded: LoadedConfig): Promise<void> {
  const { config, flags } = loaded;
  const { log, flush } = createLogger({
    format: config.logging.format as 'text' | 'json',
    verbosity: config.logging.verbosity,
  });
  for (const warning of loaded.warnings) log.warn(warning);
  const env = { now: agentClock(), elapsed: () => performance.now(), random: Math.random };
  const { now } = env;
  const node = await nodeInfo();
  const nodeName = flags.hostnameOverride || node.nodeName;
  const paths = hostPaths(loaded);
  await makeRootDir(paths.rootDir);
  const guest = loaded.quickstart ? await (await import('./quickstart.ts')).quickstart(loaded, log) : undefined;
  // Containers of the embedded runtime would inherit it.
  if (!guest) await applyOomScoreAdj(config.oomScoreAdj, (m) => log.info(m));
  const cri = connectCri({
    runtimeEndpoint: guest?.endpoint ?? config.containerRuntimeEndpoint,
    imageEndpoint: guest ? undefined : config.imageServiceEndpoint || undefined,
    runtimeRequestTimeoutMs: durationMs(config.runtimeRequestTimeout),
  });
  const driver = config.cgroupDriver as CgroupSettings['driver'];
  const cgroupDriver = config.cgroupsPerQOS ? await cgroupDriverOf(cri, driver, (m) => log.warn(m)) : driver;
  const host = createPodHost({ paths, cgroup: cgroupSettings(loaded, cgroupDriver), logger: log });
  await host.checkCgroups();
  const cgroupV2 = await isCgroupV2();
  const ofNode = nodeSettings(loaded, nodeName, await startNotices(loaded, cgroupV2));
  const readHost = hostFactsReader({ rootDir: paths.rootDir, nodeName, nodeIPs: ofNode.nodeIPs });
  const kube = await apiServer(loaded);
  const view = nodeView(nodeName, { host: await hostWithoutAddresses(paths) }, ofNode, loaded);
  const settings = { ...syncloopSettings(loaded, node), cluster: kube && { node: ofNode, drainMs: SETTLE_MS } };
  const facts = podFacts(createFactStore(paths, log), log);
  const record = (event: RecordedEvent) => {
    const { type, reason, message, pod, fieldPath } = event;
    const about = { reason, pod: pod && `${pod.namespace}/${pod.name}`, fieldPath };
    log[type === 'Warning' ? 'warn' : 'info'](about, message);
  };
  if (!kube) ofNode.notices.forEach(record);
  const objects = await podObjects(loaded, kube, { paths, host, view, log, env });
  const machine = agentMachine({
    cri,
    host,
    observer: new Observer(cri, host, now),
    turns: new Turns(node.cores),
    settings: configSettings(loaded, node, cgroupV2),
    resolver: hostResolver(config.resolvConf ?? '', ({ metadata }, message) =>
      record({ type: 'Warning', reason: 'DNSConfigForming', message, pod: metadata }),
    ),
    now,
    pulls: pullSettings(loaded),
    ...facts,
    manifestHeaders: config.staticPodURLHeader ?? {},
    settleMs: SETTLE_MS,
    readHost,
    ...objects,
  });
  const seen = liveAgent(now, log);
  const agent = createActor(machine, {
    id: 'syncloop',
    clock: longTimers(),
    inspect: seen.inspect,
    input: {
      env,
      nodeName,
      ...(await facts.load()),
      sources: podSources(loaded),
      node: view,
      settings,
    },
  });
  agent.on('event.happened', ({ event }) => record(event));
  const over = Promise.withResolvers<void>();
  agent.subscribe({ complete: over.resolve, error: over.reject });

  const servers = await showAgent(loaded, agentView(agent, seen.live, now), log, {
    agent,
    live: seen.live,
    nodeName,
    startedAt: now(),
  });
  await seen.openHistory(paths.rootDir);
  listenForSignals({
    drain: (signal) => {
      log.info(`${signal}: draining${guest ? '' : '; containers go on running'}`);
      agent.send({ type: 'agent.drain' });
    },
    endNow: (signal) => {
      log.warn(`${signal} while draining: ends at once`);
      flush();
      process.exit(1);
    },
  });
  guest?.show(agent);
  log.info({ node: nodeName, runtime: guest?.endpoint ?? config.containerRuntimeEndpoint }, 'statelet starts');
  agent.start();
  try {
    await over.promise;
  } finally {
    await Promise.all([seen.close(), ...servers.map((server) => server.close())]);
    cri.close();
    objects.close();
    await guest?.stop();
    log.info('statelet has stopped');
    flush();
  }
}
