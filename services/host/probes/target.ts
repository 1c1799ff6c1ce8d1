import { isIPv6 } from 'node:net';
import { AgentError } from '../../../machines/agent-error.types.ts';
import type { Container } from '../../../machines/kubernetes.types.ts';

/** Where a probe connects: the host that it names, else the pod. @throws AgentError `InvalidProbe` where there is none */
export function hostOf(named: string | undefined, podIP: string | undefined): string {
  const host = named || podIP;
  if (!host) throw invalidProbe('the pod has no address to probe');
  return host;
}

/**
 * A port by its number, or by the name that the container gives it; a number that came as text counts
 * (pkg/probe/util.go:ResolveContainerPort).
 *
 * @throws AgentError `InvalidProbe` where no port has the name, or a number is none of a port
 */
export function portOf(port: number | string, container: Container): number {
  const named = container.ports?.find(({ name }) => name !== undefined && name === port);
  const number = named?.containerPort ?? (/^\d+$/.test(String(port)) ? Number(port) : undefined);
  if (number === undefined) {
    throw invalidProbe(`container ${JSON.stringify(container.name)} has no port ${JSON.stringify(port)}`);
  }
  if (number < 1 || number > 65_535) throw invalidProbe(`invalid port number: ${number}`);
  return number;
}

/** Host and port as an address: `10.0.0.7:80`, `[fd00::7]:80`. */
export function address(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The probe cannot be made as it is described. */
export function invalidProbe(message: string): AgentError {
  return new AgentError({ op: 'probe', reason: 'InvalidProbe', message, transient: false });
}
