import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, resolve } from 'node:path';

import { Server, ServerCredentials } from '@grpc/grpc-js';
import { pino } from 'pino';
import type { Logger } from 'pino';

import { Faults } from './faults.ts';
import { ImageStore } from './images.ts';
import type { ImageOptions } from './images.ts';
import { Records } from './records.ts';
import { recover } from './recover.ts';
import { Runtime } from './runtime.ts';
import { addServices } from './server.ts';
import { killContainer } from './verbs/container-end.ts';
import { makeDirectory } from '../../host/make-directory.ts';

export type { Faults } from './faults.ts';

export interface EmbeddedRuntimeOptions {
  /** Path of the unix socket, at most 107 bytes. */
  socketPath: string;
  /** Where records, named pipes and scratch directories are; owned by one server at a time. */
  stateDir: string;
  logger?: Logger;
  faults?: Faults;
  images?: ImageOptions;
}

export interface EmbeddedRuntime {
  /** `unix:///…` */
  endpoint: string;
  faults: Faults;
  /** Ends the server. Containers are killed and put on record as exited, or left running for the next server. */
  stop(options?: { containers: 'kill' | 'leave' }): Promise<void>;
}

/** Of a request: containerd's own bound (pkg/defaults). */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * The embedded runtime: a CRI v1 server that runs a container's command as a plain process of the host. No images,
 * no isolation, no root; Linux only (it reads /proc). For trying the agent, and for tests. `main.ts` serves it as a
 * program of its own.
 *
 * What it does
 * - The CRI calls of verbs/index.ts and GetContainerEvents, over a real unix socket, with containerd's semantics and
 *   error texts: reserved names, NOT_FOUND, idempotent stop and remove, StartError with exit code 128. Every other
 *   method answers UNIMPLEMENTED: Exec, Attach, PortForward and the pod's statistics among them.
 * - A container is a process in a session and group of its own, with the config's environment only, PATH and HOSTNAME
 *   added. Commands are looked up on its PATH. STOP signals the first process; KILL, and the end of the first process,
 *   kill the whole group.
 * - Logs in the CRI format at log_directory/log_path, with ReopenContainerLog. What a container writes waits in named
 *   pipes: it is neither killed nor blocked for long when the server is away.
 * - Mounts: inside a container's command, args, environment, working directory and exec commands, a path at or below a
 *   mount's container path is replaced by its host path (container-paths.ts). So `echo x > /data/f` writes to the
 *   volume, and so does a write to the termination log, which is a mount like any other.
 * - An image is a name: every well-formed reference can be pulled and has the same digest each time, but for those of
 *   `images.absent` and of hosts under `.invalid`. A container that names no command runs `images.commands`, else a
 *   long sleep. Images are gone with the state directory.
 * - Restarts: the records in the state directory bring back every object. Live processes are adopted; whatever ended
 *   while no server looked, and whatever an adopted process ends with, has exit code 255 and reason Unknown, as
 *   containerd has it.
 * - Faults on demand and a ledger of calls (faults.ts).
 *
 * What it does not do
 * - A path that a program makes up or reads from a file of a volume is not replaced; two mounts at paths that a program
 *   joins are not seen. A read-only mount can be written. A mount of an image is refused.
 * - Users, groups, capabilities, seccomp, devices, terminals and limits are accepted, reported back, named once in a
 *   warning and not applied; UpdateContainerResources likewise. There is no OOM kill beyond the host's own.
 * - All processes see the host's file system, pids and network: two pods cannot listen on the same port. A pod's address
 *   is one of 127.88.0.0/16, which reaches what listens on all addresses. No DNS or host name of its own, no host ports.
 * - The first process is not pid 1: a signal that it does not handle ends it. A daemon that leaves its process group
 *   outlives its container. What an exec leaves in the background is killed when the exec ends.
 * - No rest of a log line or of a full read buffer survives `kill -9` of the server.
 *
 * @throws when the socket's path is too long or in use, or a record cannot be read.
 */
export async function startEmbeddedRuntime(options: EmbeddedRuntimeOptions): Promise<EmbeddedRuntime> {
  const socketPath = resolve(options.socketPath);
  const stateDir = resolve(options.stateDir);
  const logger = options.logger ?? pino({ enabled: false });
  const faults = options.faults ?? new Faults();
  await claimSocket(socketPath);
  const records = new Records(stateDir);
  await records.open();
  const images = new ImageStore(options.images, await records.loadImages());
  const runtime = new Runtime({ records, images, logger, stateDir });
  await recover(runtime);

  const stopping = new AbortController();
  const server = new Server({ 'grpc.max_receive_message_length': MAX_MESSAGE_BYTES });
  addServices(server, runtime, faults, stopping.signal);
  await new Promise<void>((done, failed) => {
    server.bindAsync(`unix:${socketPath}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? done() : failed(error),
    );
  });
  return {
    endpoint: `unix://${socketPath}`,
    faults,
    stop: async ({ containers } = { containers: 'kill' }) => {
      stopping.abort();
      server.forceShutdown();
      const entries = [...runtime.containers.values()];
      if (containers === 'kill') await Promise.all(entries.map(killContainer));
      await Promise.all(entries.map((entry) => entry.starting));
      await Promise.all(entries.map((entry) => entry.process?.detach()));
      await rm(socketPath, { force: true });
    },
  };
}

/** Makes the socket's path free: a socket that nobody answers on is removed, one in use is an error. */
async function claimSocket(socketPath: string): Promise<void> {
  if (Buffer.byteLength(socketPath) > 107) {
    throw new Error(`socketPath ${socketPath}: longer than the 107 bytes that a unix socket's path may have`);
  }
  await makeDirectory(dirname(socketPath));
  const answered = await new Promise<boolean>((done) => {
    const probe = connect(socketPath);
    probe.once('connect', () => done(true));
    probe.once('error', () => done(false));
    probe.once('connect', () => probe.destroy());
  });
  if (answered) throw new Error(`socketPath ${socketPath}: another server answers there`);
  await rm(socketPath, { force: true });
}
