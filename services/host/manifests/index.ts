import { fromCallback, fromPromise, type EventObject } from 'xstate';
import type { PodSourceSlots, RawManifest, WatchManifestsInput } from '../../../machines/syncloop/pod-source.types.ts';
import type { WatchSlot } from '../../../machines/slot.types.ts';
import { effect } from '../effect.ts';
import type { FactStore } from '../facts.ts';
import { keptManifests } from './kept.ts';
import { readFiles, type KnownFiles } from './read-files.ts';
import { readUrl } from './read-url.ts';
import { watchLocation } from './watch.ts';

/** A hung file system or server must not hold up the source for ever. */
const DEADLINE_MS = 15_000;

const isUrl = (location: string) => /^https?:\/\//.test(location);

/**
 * The manifests at a folder, a file or a URL, as they are now.
 *
 * @param known files as they were read last; kept up by this call
 * @param headers sent with the request of a URL (--manifest-url-header)
 * @throws AgentError where a folder cannot be listed: an answer would make its pods look removed
 */
export function readManifests(
  location: string,
  headers: Record<string, string[]>,
  signal: AbortSignal,
  known: KnownFiles = new Map(),
): Promise<RawManifest[]> {
  return effect('read manifests', DEADLINE_MS, signal, (inner) =>
    isUrl(location) ? readUrl(location, headers, inner) : readFiles(location, known),
  );
}

/** The pod source's effects. A URL is not watched, only read again. */
export function podSourceSlots(options: { headers?: Record<string, string[]>; kept: FactStore }): PodSourceSlots & {
  watchManifests: WatchSlot<WatchManifestsInput>;
} {
  const known: KnownFiles = new Map();
  return {
    ...keptManifests(options.kept),
    readManifests: fromPromise(({ input, signal }) =>
      readManifests(input.location, options.headers ?? {}, signal, known),
    ),
    watchManifests: fromCallback<EventObject, WatchManifestsInput>(({ input, sendBack }) =>
      isUrl(input.location) ? undefined : watchLocation(input.location, sendBack),
    ),
  };
}
