import { connect } from 'node:net';
import type { ProbeOutcome } from '../../../machines/pod/probe.types.ts';
import { networkError } from './network-error.ts';
import { address } from './target.ts';

/** Whether a connection can be opened; it is closed at once (probe/tcp/tcp.go:DoTCPProbe). */
export function tcpProbe(host: string, port: number, time: AbortSignal): Promise<ProbeOutcome> {
  const target = address(host, port);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (outcome: ProbeOutcome) => {
      time.removeEventListener('abort', late);
      socket.destroy();
      resolve(outcome);
    };
    const fail = (message: string) => done({ result: 'failure', message });
    const late = () => fail(`dial tcp ${target}: i/o timeout`);
    time.addEventListener('abort', late, { once: true });
    socket.once('connect', () => done({ result: 'success', message: '' }));
    // One that comes after the end is nobody's.
    socket.on('error', (error) => fail(networkError(error, host, target)));
    if (time.aborted) late();
  });
}
