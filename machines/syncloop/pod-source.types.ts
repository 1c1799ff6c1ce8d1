import type { AgentEnv, ParentRef } from '../agent.types.ts';
import type { Slot } from '../slot.types.ts';

export interface PodSourceInput {
  env: AgentEnv;
  parent: ParentRef;
  source: 'file' | 'http';
  nodeName: string;
  /** Folder or single file, or the URL. */
  location: string;
  /** fileCheckFrequency or httpCheckFrequency, ms. */
  periodMs: number;
}

/** One raw document as the service read it. `unchanged`: same bytes as in the last answer (ETag, size + mtime + inode). */
export interface RawManifest {
  /** Path or URL, as shown in errors. */
  origin: string;
  /** Absent where the origin could not be read; then `error` says why. */
  text?: string;
  error?: string;
  /** The origin is not there at all (the folder or file to be read does not exist): what came from it is given up. */
  missing?: boolean;
}

export interface PodSourceSlots {
  /** Every manifest there is now, sorted by origin. A missing folder is an empty answer with a problem. */
  readManifests: Slot<{ location: string }, RawManifest[]>;
  /** The last good text of each origin of this source, by origin, as this or an earlier agent kept it. */
  recallManifests: Slot<{ source: PodSourceInput['source'] }, Record<string, string>>;
  /** Keeps last good texts, and forgets those of origins that are gone. Idempotent. */
  keepManifests: Slot<
    { source: PodSourceInput['source']; keep: { origin: string; text: string }[]; forget: string[] },
    void
  >;
}

/** Input of the `watchManifests` callback actor; for http there is nothing to watch. */
export interface WatchManifestsInput {
  source: PodSourceInput['source'];
  location: string;
}

/** What the `watchManifests` callback actor (inotify with debounce) sends: something changed, read again. */
export type WatchManifestsEvent = { type: 'manifests.changed' } | { type: 'watch.failed'; message: string };
