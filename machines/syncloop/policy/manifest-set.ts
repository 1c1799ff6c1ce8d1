import type { RecordedEvent } from '../../agent.types.ts';
import type { DesiredPod } from '../../kubernetes.types.ts';
import { CONFIG_SEEN_ANNOTATION } from '../../pod/policy/names.ts';
import { sameJson } from '../../pod/policy/same-json.ts';
import type { RawManifest } from '../pod-source.types.ts';
import type { SourceSet } from '../syncloop.types.ts';
import { decodeManifest } from './decode-pod.ts';
import { withoutDuplicates } from './duplicates.ts';
import type { StaticPodOrigin } from './static-pod.ts';

/** What one origin gives: the pods of its last good manifest, and what is wrong with it now. */
interface Manifest {
  /** The text that was decoded last, good or not: an unchanged one is not decoded again. */
  text?: string;
  /** The text that the pods come from. */
  good?: string;
  pods: DesiredPod[];
  problems: string[];
  /** Its pods are in force: one of another origin with the same name or UID does not take their place. */
  stands: boolean;
}

/** The last good text by origin, as an earlier agent kept it or as this one did. */
export type KeptManifests = Readonly<Record<string, string>>;

/** By origin, in the order of the origins. */
export type ManifestSet = Readonly<Record<string, Manifest>>;

/** Origins that gave pods, to this agent or to an earlier one, and are not there any more. */
export function vanished(before: ManifestSet, raw: readonly RawManifest[], kept: KeptManifests = {}): string[] {
  const present = new Set(raw.filter(({ missing }) => !missing).map(({ origin }) => origin));
  const gave = Object.keys(before).filter((origin) => before[origin]?.pods.length);
  return [...new Set([...gave, ...Object.keys(kept)])].filter((origin) => !present.has(origin));
}

/**
 * The set after a reading. A manifest that cannot be read or decoded now keeps the pods of its last good text: nothing that
 * runs is touched by a bad edit. An origin that is gone takes its pods along (config/file.go:listConfig). A pod that is the
 * same as before stays the same object.
 *
 * @param kept last good texts of an earlier agent: they stand in for what this one has not read yet, and were in force
 */
export function readSet(
  before: ManifestSet,
  raw: readonly RawManifest[],
  from: Omit<StaticPodOrigin, 'origin'>,
  kept: KeptManifests = {},
): ManifestSet {
  const read = Object.fromEntries(
    raw.map((manifest) => [manifest.origin, readOne(before[manifest.origin], manifest, from, kept[manifest.origin])]),
  );
  const inForce = new Set(distinct(read, from.source).pods);
  return Object.fromEntries(
    Object.entries(read).map(([origin, manifest]) => {
      const stands = manifest.pods.some((pod) => inForce.has(pod));
      return [origin, manifest.stands === stands ? manifest : { ...manifest, stands }];
    }),
  );
}

function readOne(
  before: Manifest | undefined,
  { origin, text, error, missing }: RawManifest,
  from: Omit<StaticPodOrigin, 'origin'>,
  kept: string | undefined,
): Manifest {
  const stands = before?.stands ?? kept !== undefined;
  const lastGood = () => {
    if (missing) return { pods: [] };
    if (before) return { good: before.good, pods: before.pods };
    if (kept === undefined) return { pods: [] };
    const { pods } = decodeManifest(kept, origin, from);
    return { pods, ...(pods.length > 0 && { good: kept }) };
  };
  if (text === undefined) return { ...lastGood(), problems: [`${origin}: ${error ?? 'could not be read'}`], stands };
  if (before?.text === text) return before;
  const { pods, problems } = decodeManifest(text, origin, from);
  if (problems.length > 0) return { text, ...lastGood(), problems, stands };
  return { text, good: text, pods: pods.map((pod) => asBefore(pod, before?.pods ?? [])), problems: [], stands };
}

/**
 * What is to be written and what to be forgotten, so that the last good texts are kept as the set has them; not those that
 * stand back behind another: after a restart too, the one that runs stays.
 */
export function keepingOf(
  set: ManifestSet,
  kept: KeptManifests,
): { kept: KeptManifests; keep: { origin: string; text: string }[]; forget: string[] } {
  const good = Object.entries(set).flatMap(([origin, { good: text, stands }]) =>
    text === undefined || !stands ? [] : [{ origin, text }],
  );
  const next = Object.fromEntries(good.map(({ origin, text }) => [origin, text]));
  return {
    kept: next,
    keep: good.filter(({ origin, text }) => kept[origin] !== text),
    forget: Object.keys(kept).filter((origin) => !(origin in next)),
  };
}

/** A pod that has been seen before keeps the time when it first was. */
function asBefore(pod: DesiredPod, before: readonly DesiredPod[]): DesiredPod {
  const old = before.find(({ metadata }) => metadata.uid === pod.metadata.uid);
  const seen = old?.metadata.annotations?.[CONFIG_SEEN_ANNOTATION];
  if (!old || !seen) return pod;
  const annotations = { ...pod.metadata.annotations, [CONFIG_SEEN_ANNOTATION]: seen };
  const aged: DesiredPod = { ...pod, metadata: { ...pod.metadata, annotations } };
  return sameJson(aged, old) ? old : aged;
}

/** Said of a problem behind which pods run. */
const GOES_ON = ' (its last good version stays in force)';

/** What a set comes to: its pods without duplicates, and everything that is wrong with it. */
export function outcome(
  set: ManifestSet,
  source: 'file' | 'http',
): { pods: DesiredPod[]; problems: SourceSet['problems']; events: RecordedEvent[] } {
  const { pods, events: duplicates } = distinct(set, source);
  const problems = Object.entries(set).flatMap(([origin, manifest]) =>
    manifest.problems.map((message) => ({
      origin,
      message: manifest.pods.length > 0 ? `${message}${GOES_ON}` : message,
    })),
  );
  return {
    pods,
    problems: [...problems, ...duplicates.map(({ message }) => ({ origin: source, message }))],
    events: duplicates,
  };
}

/** Of pods that share a name or a UID the one that is in force stays; where none is yet, the first by its origin. */
function distinct(set: ManifestSet, source: 'file' | 'http'): ReturnType<typeof withoutDuplicates> {
  const origins = new Map(
    Object.entries(set).flatMap(([origin, { pods }]) => pods.map((pod) => [pod, origin] as const)),
  );
  const stands = (pod: DesiredPod) => set[origins.get(pod) ?? '']?.stands ?? false;
  const all = [...origins.keys()];
  const { pods, events } = withoutDuplicates(
    [...all.filter(stands), ...all.filter((pod) => !stands(pod))],
    source,
    (pod) => origins.get(pod) ?? source,
  );
  const stay = new Set(pods);
  return { pods: all.filter((pod) => stay.has(pod)), events };
}
