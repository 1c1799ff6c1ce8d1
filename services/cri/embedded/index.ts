import { mkdir, rm } from 'node:fs/promises';
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
  const server = new Server();
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
  await mkdir(dirname(socketPath), { recursive: true });
  const answered = await new Promise<boolean>((done) => {
    const probe = connect(socketPath);
    probe.once('connect', () => done(true));
    probe.once('error', () => done(false));
    probe.once('connect', () => probe.destroy());
  });
  if (answered) throw new Error(`socketPath ${socketPath}: another server answers there`);
  await rm(socketPath, { force: true });
}
