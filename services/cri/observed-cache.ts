import type { PodRef } from '../../machines/pod/pod.types.ts';
import type { ObservedContainer, ObservedSandbox } from '../../machines/runtime.types.ts';
import type { Container, PodSandbox } from './proto/generated/cri.ts';
import { ownerOf } from './owner.ts';

interface Place {
  pod: PodRef;
  /** Of a container. */
  sandboxId?: string;
  /** When it was seen, ms: the begin of the listing, or when the call that made it had answered. */
  at: number;
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

  /** @param at when the listing that shows it began, ms */
  learn(item: PodSandbox | Container, at: number): void {
    const pod = ownerOf(item.labels);
    if (pod === undefined) return;
    this.remember(item.id, { pod, sandboxId: 'podSandboxId' in item ? item.podSandboxId : undefined, at });
  }

  podOf(id: string): PodRef | undefined {
    return this.#places.get(id)?.pod;
  }

  sandboxOf(id: string): string | undefined {
    return this.#places.get(id)?.sandboxId;
  }

  /**
   * Drops what a listing of the whole runtime, begun at `at`, does not show, and what was seen since then is kept: no event
   * would find the pod of what was made while the listing was under way.
   */
  keepOnly(items: readonly (PodSandbox | Container)[], at: number): void {
    const ids = new Set(items.map(({ id }) => id));
    for (const map of [this.#containers, this.#sandboxes, this.#places])
      for (const [id, seen] of map) if (!ids.has(id) && seen.at < at) map.delete(id);
    items.forEach((item) => this.learn(item, at));
  }
}
