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
  pods: DesiredPod[];
  problems: string[];
}

/** By origin, in the order of the origins. */
export type ManifestSet = Readonly<Record<string, Manifest>>;

/** Origins that gave pods and are not there any more. */
export function vanished(before: ManifestSet, raw: readonly RawManifest[]): string[] {
  const present = new Set(raw.filter(({ missing }) => !missing).map(({ origin }) => origin));
  return Object.keys(before).filter((origin) => before[origin]?.pods.length && !present.has(origin));
}

/**
 * The set after a reading. A manifest that cannot be read or decoded now keeps the pods of its last good text: nothing that
 * runs is touched by a bad edit. An origin that is gone takes its pods along (config/file.go:listConfig). A pod that is the
 * same as before stays the same object.
 */
export function readSet(
  before: ManifestSet,
  raw: readonly RawManifest[],
  from: Omit<StaticPodOrigin, 'origin'>,
): ManifestSet {
  return Object.fromEntries(raw.map((manifest) => [manifest.origin, readOne(before[manifest.origin], manifest, from)]));
}

function readOne(
  before: Manifest | undefined,
  { origin, text, error, missing }: RawManifest,
  from: Omit<StaticPodOrigin, 'origin'>,
): Manifest {
  const pods = (!missing && before?.pods) || [];
  if (text === undefined) return { pods, problems: [`${origin}: ${error ?? 'could not be read'}`] };
  if (before?.text === text) return before;
  const decoded = decodeManifest(text, origin, from);
  if (decoded.problems.length > 0) return { text, pods, problems: decoded.problems };
  return { text, pods: decoded.pods.map((pod) => asBefore(pod, pods)), problems: [] };
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

/** What a set comes to: its pods without duplicates, and everything that is wrong with it. */
export function outcome(
  set: ManifestSet,
  source: 'file' | 'http',
): { pods: DesiredPod[]; problems: SourceSet['problems']; events: RecordedEvent[] } {
  const origins = new Map(
    Object.entries(set).flatMap(([origin, manifest]) => manifest.pods.map((pod) => [pod, origin] as const)),
  );
  const { pods, events: duplicates } = withoutDuplicates(
    [...origins.keys()],
    source,
    (pod) => origins.get(pod) ?? source,
  );
  const problems = Object.entries(set).flatMap(([origin, manifest]) =>
    manifest.problems.map((message) => ({ origin, message })),
  );
  return {
    pods,
    problems: [...problems, ...duplicates.map(({ message }) => ({ origin: source, message }))],
    events: duplicates,
  };
}
