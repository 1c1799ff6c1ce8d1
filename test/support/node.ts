import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectCri } from '../../services/cri/client.ts';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../services/cri/embedded/index.ts';
import { CgroupRoot } from './cgroup-root.ts';
import { testRuntime } from './containerd-tier.ts';
import { Daemon } from './daemon.ts';
import type { DaemonOptions } from './daemon.ts';
import { EmbeddedProcess } from './embedded-process.ts';
import { tearDown } from './tear-down.ts';

/** What differs from agent to agent. */
type Over = Omit<DaemonOptions, 'endpoint'>;

/** An agent on an embedded runtime, each a process of its own, for one file of tests. */
export async function embeddedNode(over: Over = {}) {
  const runtime = await EmbeddedProcess.start();
  const daemon = await Daemon.start({ endpoint: runtime.endpoint, ...over });
  const discard = () =>
    tearDown(
      () => daemon.discard(),
      () => runtime.discard(),
    );
  return { runtime, daemon, discard };
}

/** An agent that is not started yet on a real runtime, with a cgroup of its own, for one file of tests. */
export async function containerdNode(prefix: string, over: Over = {}) {
  const runtime = await testRuntime();
  const cri = connectCri({ runtimeEndpoint: runtime.endpoint, runtimeRequestTimeoutMs: 20_000 });
  const cgroups = await CgroupRoot.make(prefix);
  const config = { cgroupsPerQOS: true, cgroupRoot: cgroups.name, ...over.config };
  const leave = async () => {
    cri.close();
    await tearDown(
      () => runtime.stop(),
      () => cgroups.remove(),
    );
  };
  const daemon = await Daemon.make({ endpoint: runtime.endpoint, ...over, config }).catch(async (error: unknown) => {
    await leave();
    throw error;
  });
  const discard = () =>
    tearDown(
      // Where not all tests have run, their pods are still there.
      () => daemon.empty(),
      () => daemon.discard(),
      leave,
    );
  return { runtime, cri, cgroups, daemon, discard };
}

/** A runtime in this process, so that a test can tell it which calls go wrong; `discard` ends it. */
export async function faultyRuntime(): Promise<{ runtime: EmbeddedRuntime; discard: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'runtime-'));
  const runtime = await startEmbeddedRuntime({
    socketPath: join(directory, 'cri.sock'),
    stateDir: join(directory, 'state'),
  });
  const discard = async () => {
    runtime.faults.clear();
    await runtime.stop();
    await rm(directory, { recursive: true });
  };
  return { runtime, discard };
}
