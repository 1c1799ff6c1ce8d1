import type { ObservedContainer } from '../../runtime.types.ts';
import type { ContainerDesired } from '../container.types.ts';
import { sameJson } from './same-json.ts';

/**
 * Whether a container would be told what it was told before. That its instances were seen once more, and nothing of them
 * changed, is no news.
 */
export function samePush(a: ContainerDesired, b: ContainerDesired | undefined): boolean {
  return (
    b !== undefined &&
    a.pod === b.pod &&
    sameJson(a.plan, b.plan) &&
    sameJson(a.sandbox, b.sandbox) &&
    a.instances.length === b.instances.length &&
    a.instances.every((instance, i) => sameInstance(instance, b.instances[i]))
  );
}

const sameInstance = (a: ObservedContainer, b: ObservedContainer | undefined) =>
  a === b || (b !== undefined && sameJson({ ...a, at: 0 }, { ...b, at: 0 }));
