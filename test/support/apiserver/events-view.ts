import type { Dict, KubeObject } from './objects.ts';

/** Fields of a core/v1 Event and their names in events.k8s.io/v1. Source: k8s.io/kubernetes pkg/apis/events/v1/conversion.go. */
const NAMES: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

function renamed(object: Dict, names: Map<string, string>): Dict {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value]));
}

const toEvents = new Map(NAMES);
const toCore = new Map(NAMES.map(([core, events]) => [events, core]));

/** A stored (core/v1) event as events.k8s.io/v1 shows it. */
export const asEventsV1 = (object: KubeObject) => renamed(object, toEvents) as KubeObject;

/** An events.k8s.io/v1 event as it is stored. */
export const asCoreV1 = (object: KubeObject) => renamed(object, toCore) as KubeObject;
