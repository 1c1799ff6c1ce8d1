import type { Container, Probe } from '../../kubernetes.types.ts';

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'] as const;
/** And their values: no control characters but tabs. */
const HEADER_VALUE = /^[^\p{Cc}]*(?:\t[^\p{Cc}]*)*$/u;
/** A name or an address, as far as a URL takes it. */
const HOST = /^[\w.:-]+$/;
/** HTTP header names: RFC 9110 tokens. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Rules of a container's probes (pkg/apis/core/validation/validation.go:validateProbe, validateLivenessProbe). */
export function probeProblems(container: Container, path: string, list: string): string[] {
  const { livenessProbe, readinessProbe, startupProbe, ports = [] } = container;
  const probes = { livenessProbe, readinessProbe, startupProbe };
  const names = ports.flatMap(({ name }) => name ?? []);
  return Object.entries(probes).flatMap(([field, probe]) => {
    if (!probe) return [];
    const at = `${path}.${field}`;
    if (list === 'initContainers' && container.restartPolicy !== 'Always')
      return [`${at}: is for sidecars and regular containers only (an init container with restartPolicy Always)`];
    return handlerProblems(probe, at, names).concat(
      field !== 'readinessProbe' && (probe.successThreshold ?? 1) !== 1 ? [`${at}.successThreshold: must be 1`] : [],
      field === 'readinessProbe' && probe.terminationGracePeriodSeconds !== undefined
        ? [`${at}.terminationGracePeriodSeconds: is for liveness and startup probes only`]
        : [],
    );
  });
}

function handlerProblems(probe: Probe, at: string, names: readonly string[]): string[] {
  const given = HANDLERS.filter((handler) => probe[handler]);
  if (given.length !== 1)
    return [`${at}: must have one of ${HANDLERS.join(', ')}${given.length ? `, not ${given.join(' and ')}` : ''}`];
  const problems: string[] = [];
  const { exec, httpGet, tcpSocket } = probe;
  if (exec && !exec.command?.length) problems.push(`${at}.exec.command: must hold a command`);
  for (const [handler, port] of [
    ['httpGet', httpGet?.port],
    ['tcpSocket', tcpSocket?.port],
  ] as const)
    if (typeof port === 'string' && !names.includes(port))
      problems.push(
        `${at}.${handler}.port: ${JSON.stringify(port)} is no port of the container, ` +
          (names.length ? `accepted are ${names.join(', ')}` : 'none of its ports has a name'),
      );
  for (const [handler, host] of [
    ['httpGet', httpGet?.host],
    ['tcpSocket', tcpSocket?.host],
  ] as const)
    if (host && !HOST.test(host)) problems.push(`${at}.${handler}.host: must be a host's name or address`);
  for (const [index, { name, value }] of (httpGet?.httpHeaders ?? []).entries()) {
    const header = `${at}.httpGet.httpHeaders[${index}]`;
    if (!HEADER_NAME.test(name)) problems.push(`${header}.name: is not the name of a header`);
    if (!HEADER_VALUE.test(value))
      problems.push(`${header}.value: must not hold line breaks or other control characters`);
  }
  return problems;
}
