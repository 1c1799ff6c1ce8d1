import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Container, Probe } from '../../../../machines/kubernetes.types.ts';
import type { ProbeOutcome, RunProbeInput } from '../../../../machines/pod/probe.types.ts';
import { runProbe } from '../../../../services/host/probes/index.ts';
import { container, pod } from '../../../support/fixtures.ts';

export const LOCAL = '127.0.0.1';

const noExec = () => Promise.reject(new Error('this probe runs no command'));

/** The input of one probe of a container at 127.0.0.1. */
export function inputOf(probe: Probe, over: Partial<Container> = {}, podIP: string | undefined = LOCAL): RunProbeInput {
  const probed = container(over);
  return { type: 'liveness', probe, pod: pod({ spec: { containers: [probed] } }), container: probed, id: 'c1', podIP };
}

/** Runs one probe that runs no command. */
export function probeOnce(
  probe: Probe,
  over: Partial<Container> = {},
  podIP: string | undefined = LOCAL,
  signal = new AbortController().signal,
): Promise<ProbeOutcome> {
  return runProbe(noExec)(inputOf(probe, over, podIP), signal);
}

/** How long it took, ms, besides the outcome. */
export async function timed<T>(run: () => Promise<T>): Promise<{ outcome: T; ms: number }> {
  const began = performance.now();
  const outcome = await run();
  return { outcome, ms: performance.now() - began };
}

export interface RawServer {
  port: number;
  /** Open connections. */
  sockets: Set<Socket>;
  connections: number;
  close(): Promise<void>;
}

/** A server that does with each connection what it is told, and speaks no protocol. */
export async function rawServer(onSocket: (socket: Socket) => void, host = LOCAL): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    result.connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    onSocket(socket);
    // What is not read has no end.
    socket.resume();
  });
  const result = { port: 0, sockets, connections: 0, close };
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  result.port = (server.address() as AddressInfo).port;
  function close() {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  }
  return result;
}

/** A port that nobody listens on. */
export async function closedPort(): Promise<number> {
  const { port, close } = await rawServer(() => undefined);
  await close();
  return port;
}
