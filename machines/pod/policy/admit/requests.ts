import type { Container, PodSpec } from '../../../kubernetes.types.ts';
import { milliValue, wholeValue } from '../quantity.ts';
import { effectiveRequest } from '../resources.ts';

/** Amounts by resource name, none of them 0: thousandths of a CPU, bytes, or pieces. */
export type Requests = ReadonlyMap<string, bigint>;

/** A spec is never changed, only replaced, and each is asked again for every pod that arrives beside it. */
const known = new WeakMap<PodSpec, Requests>();

/**
 * What a pod asks of its node, resource by resource: its own request for the whole pod where it makes one, else what its
 * containers ask for at its peak; and its overhead (component-helpers/resource/helpers.go:PodRequests).
 *
 * @throws QuantityError
 */
export function podRequests(spec: PodSpec): Requests {
  const found = known.get(spec);
  if (found) return found;
  const requests = new Map<string, bigint>();
  for (const resource of resourceNames(spec)) {
    const overhead = amountOf(resource, spec.overhead?.[resource] ?? '0');
    const amount = (ofWholePod(spec, resource) ?? ofContainers(spec, resource)) + overhead;
    if (amount > 0n) requests.set(resource, amount);
  }
  known.set(spec, requests);
  return requests;
}

/** A quantity in the unit in which its resource is counted. @throws QuantityError */
export function amountOf(resource: string, quantity: string): bigint {
  return resource === 'cpu' ? milliValue(quantity) : wholeValue(quantity);
}

function resourceNames({ containers, initContainers = [], resources, overhead = {} }: PodSpec): Set<string> {
  const asked = [...containers, ...initContainers, { resources }].flatMap(({ resources }) => [
    ...Object.keys(resources?.requests ?? {}),
    ...Object.keys(resources?.limits ?? {}),
  ]);
  return new Set([...asked, ...Object.keys(overhead)]);
}

/** spec.resources; a limit stands for the request where no container makes one, as the API has it. */
function ofWholePod(spec: PodSpec, resource: string): bigint | undefined {
  const { requests, limits } = spec.resources ?? {};
  const own = requests?.[resource];
  if (own !== undefined) return amountOf(resource, own);
  const limit = limits?.[resource];
  return limit !== undefined && ofContainers(spec, resource) === 0n ? amountOf(resource, limit) : undefined;
}

/**
 * The peak of all containers. How init containers and sidecars add up is known for cpu and memory: what else is asked
 * for takes the place of memory, for it is counted in whole units too.
 */
function ofContainers(spec: PodSpec, resource: string): bigint {
  if (resource === 'cpu' || resource === 'memory') return effectiveRequest(spec, resource);
  const only = (container: Container): Container => {
    const { requests, limits } = container.resources ?? {};
    return { ...container, resources: { requests: { memory: requests?.[resource] ?? limits?.[resource] ?? '0' } } };
  };
  const { containers, initContainers = [] } = spec;
  return effectiveRequest({ containers: containers.map(only), initContainers: initContainers.map(only) }, 'memory');
}
