import type { PodRef } from '../../machines/pod/pod.types.ts';
import type { ObservedContainer, ObservedSandbox } from '../../machines/runtime.types.ts';
import type { Container, PodSandbox } from './proto/generated/cri.ts';
import { ownerOf } from './owner.ts';

interface Place {
  pod: PodRef;
  /** Of a container. */
  sandboxId?: string;
}

/**
 * What was seen of sandboxes and containers, by id. A container's details change only with its state, and a sandbox's
 * likewise: an entry counts as long as a listing shows the same state. Unknown states are not kept.
 */
export class ObservedCache {
  readonly #places = new Map<string, Place>();
  readonly #containers = new Map<string, ObservedContainer>();
  readonly #sandboxes = new Map<string, ObservedSandbox>();

  container(id: string, state: ObservedContainer['state']): ObservedContainer | undefined {
    const kept = this.#containers.get(id);
    return kept?.state === state ? kept : undefined;
  }

  sandbox(id: string, state: ObservedSandbox['state']): ObservedSandbox | undefined {
    const kept = this.#sandboxes.get(id);
    return kept?.state === state ? kept : undefined;
  }

  keepContainer(container: ObservedContainer): void {
    if (container.state !== 'unknown') this.#containers.set(container.id, container);
  }

  /** A ready sandbox without an address may still get one. */
  keepSandbox(sandbox: ObservedSandbox): void {
    const settled = sandbox.state === 'notReady' || sandbox.network === 'node' || sandbox.ips.length > 0;
    if (settled) this.#sandboxes.set(sandbox.id, sandbox);
  }

  remember(id: string, place: Place): void {
    this.#places.set(id, place);
  }

  learn(item: PodSandbox | Container): void {
    const pod = ownerOf(item.labels);
    if (pod === undefined) return;
    this.remember(item.id, { pod, sandboxId: 'podSandboxId' in item ? item.podSandboxId : undefined });
  }

  podOf(id: string): PodRef | undefined {
    return this.#places.get(id)?.pod;
  }

  sandboxOf(id: string): string | undefined {
    return this.#places.get(id)?.sandboxId;
  }

  /**
   * Drops everything but what a listing of the whole runtime shows. What was made while the listing was under way is
   * dropped too, which costs another look and nothing more.
   */
  keepOnly(items: readonly (PodSandbox | Container)[]): void {
    const ids = new Set(items.map(({ id }) => id));
    for (const map of [this.#containers, this.#sandboxes])
      for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    for (const id of this.#places.keys()) if (!ids.has(id)) this.#places.delete(id);
    items.forEach((item) => this.learn(item));
  }
}
