import type { NodeService } from '../objects.types.ts';

/** The namespace and the name of the API server's own Service (kubelet_pods.go: masterServices). */
const MASTER_NAMESPACE = 'default';
const MASTER = 'kubernetes';

/** Whether a Service gives pods of its namespace variables: one without an address of the cluster does not. */
export const hasVariables = ({ clusterIP }: NodeService): boolean => clusterIP !== '' && clusterIP !== 'None';

/** Whether pods of the namespace may see a Service. */
export const isSeenFrom = (namespace: string, service: NodeService): boolean =>
  service.namespace === namespace || isMaster(service);

/**
 * Variables that tell a pod of Services, in the order of the Services' names: always of the API server's own, and with
 * `enableServiceLinks` of those of its namespace, of which one called as the API server's stands in for it
 * (kubelet_pods.go:getServiceEnvVarMap, envvars.go:FromServices).
 */
export function serviceVariables(
  services: readonly NodeService[],
  { namespace, enableServiceLinks }: { namespace: string; enableServiceLinks: boolean },
): Map<string, string> {
  const seen = new Map<string, NodeService>();
  for (const service of services.filter(hasVariables)) {
    const isOwn = enableServiceLinks && service.namespace === namespace;
    if (isOwn || (isMaster(service) && !seen.has(MASTER))) seen.set(service.name, service);
  }
  const inOrder = [...seen.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return new Map(inOrder.flatMap(variablesOf));
}

const isMaster = ({ namespace, name }: NodeService) => namespace === MASTER_NAMESPACE && name === MASTER;

function variablesOf({ name, clusterIP, ports }: NodeService): [string, string][] {
  const prefix = asVariable(name);
  const address = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP;
  const named = ports.flatMap(({ name: port, port: number }): [string, string][] =>
    port ? [[`${prefix}_SERVICE_PORT_${asVariable(port)}`, String(number)]] : [],
  );
  // What containers once were linked by; the first port has one without its number.
  const links = ports.flatMap(({ port, protocol = 'TCP' }, index): [string, string][] => {
    const url = `${protocol.toLowerCase()}://${address}:${port}`;
    const link = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    return [
      ...(index === 0 ? ([[`${prefix}_PORT`, url]] satisfies [string, string][]) : []),
      [link, url],
      [`${link}_PROTO`, protocol.toLowerCase()],
      [`${link}_PORT`, String(port)],
      [`${link}_ADDR`, clusterIP],
    ];
  });
  const [first] = ports;
  return [
    [`${prefix}_SERVICE_HOST`, clusterIP],
    ...(first ? ([[`${prefix}_SERVICE_PORT`, String(first.port)]] satisfies [string, string][]) : []),
    ...named,
    ...links,
  ];
}

const asVariable = (name: string) => name.replaceAll('-', '_').toUpperCase();
