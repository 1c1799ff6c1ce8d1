import { AgentError } from '../../../machines/agent-error.types.ts';
import type { ProbeOutcome, RunProbeInput } from '../../../machines/pod/probe.types.ts';
import { execProbe } from './exec.ts';
import type { Execute } from './exec.ts';
import { grpcProbe } from './grpc.ts';
import { httpProbe } from './http.ts';
import { hostOf, invalidProbe, portOf } from './target.ts';
import { tcpProbe } from './tcp.ts';

/** Longest time of a timer of the platform, ms: 24.8 days. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * What runs one probe of a container (prober.go:runProbe): within timeoutSeconds, on a connection of its own.
 * Time that runs out is a failure.
 *
 * @param execute runs a command in a container (services/cri/verbs/exec-sync.ts)
 * @returns a function that rejects with AgentError where a probe cannot be made: `InvalidProbe` for a port name that no
 * port has, a pod without an address or a probe without a handler; `CANCELLED` when its signal gave it up; else what
 * `execute` rejects with
 */
export function runProbe(execute: Execute): (input: RunProbeInput, signal: AbortSignal) => Promise<ProbeOutcome> {
  return async (input, signal) => {
    const { probe, container, podIP } = input;
    const { exec, httpGet, tcpSocket, grpc, timeoutSeconds = 1 } = probe;
    const run = async (time: AbortSignal): Promise<ProbeOutcome> => {
      if (exec) return await execProbe(execute, input, exec.command ?? [], timeoutSeconds, signal);
      if (httpGet) return await httpProbe(httpGet, hostOf(httpGet.host, podIP), portOf(httpGet.port, container), time);
      if (tcpSocket) return await tcpProbe(hostOf(tcpSocket.host, podIP), portOf(tcpSocket.port, container), time);
      if (grpc) return await grpcProbe(grpc, hostOf(undefined, podIP), timeoutSeconds, time);
      throw invalidProbe(`missing probe handler for container ${JSON.stringify(container.name)}`);
    };
    const over = AbortSignal.timeout(Math.min(timeoutSeconds * 1000, LONGEST_MS));
    const outcome = await run(AbortSignal.any([signal, over]));
    if (!signal.aborted) return outcome;
    throw new AgentError({ op: 'probe', reason: 'CANCELLED', message: 'the probe was given up', transient: true });
  };
}
