import type { RecordedEvent } from '../agent.types.ts';
import type { DesiredPod } from '../kubernetes.types.ts';
import { sameJson } from '../pod/policy/same-json.ts';
import type { ApiPod, ApiPods, ApiSourceInput } from './api-source.types.ts';
import { keepingOf, mirroredOf, outcomeOf, type ApiSet } from './policy/api-set.ts';
import type { SourceSet } from './syncloop.types.ts';

export interface ApiSourceContext extends ApiSourceInput {
  set: ApiSet;
  /** Newest resourceVersion heard; undefined before the first listing. */
  resourceVersion?: string;
  /** The API has not answered in time: what was recalled counts until it does. */
  offline: boolean;
  /** Why the pods cannot be listed. */
  unavailable?: string;
  /** Listings and watches that failed in a row, and how long the API asks to be left alone, ms. */
  listFailures: number;
  watchFailures: number;
  retryAfterMs: number;
  /** When the watch began, monotonic ms, and whether anything came of it. */
  watchedAt: number;
  heardAny: boolean;
  /** What the parent was given last. */
  delivered?: SourceSet;
  deliveredApi?: ApiPod[];
  /** Problems that were told as events and still stand. */
  told: string[];
  /** Pods as they were written, for a later agent; those that are being written; tries that failed in a row. */
  kept: DesiredPod[];
  keeping: DesiredPod[];
  keepFailures: number;
  /** What an earlier agent kept could not be looked up: some of it may have to be forgotten. */
  unrecalled: boolean;
}

export function initialContext(input: ApiSourceInput): ApiSourceContext {
  return {
    ...input,
    set: new Map(),
    offline: false,
    listFailures: 0,
    watchFailures: 0,
    retryAfterMs: 0,
    watchedAt: 0,
    heardAny: false,
    told: [],
    kept: [],
    keeping: [],
    keepFailures: 0,
    unrecalled: false,
  };
}

/** As client-go's reflector: 0.8 s doubling to 30 s. */
const FIRST_RETRY = 800;
export const LONGEST_RETRY = 30_000;

/** Wait before the next try, ms: doubles with each failure in a row, and many agents do not come at once. */
export function backoff({ env }: ApiSourceContext, failures: number): number {
  const most = Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** Math.min(Math.max(failures, 1) - 1, 10));
  return most * (0.5 + env.random() / 2);
}

const sameItems = (a: readonly unknown[] | undefined, b: readonly unknown[]) =>
  a?.length === b.length && a.every((item, i) => item === b[i]);

/**
 * What the parent is to be told now: `set` and `api` only where they changed. Before the API was heard there is nothing to
 * tell, or, when it does not answer, what was recalled.
 */
export function deliveryOf(context: ApiSourceContext): { set?: SourceSet; api?: ApiPods; events: RecordedEvent[] } {
  const { resourceVersion, unavailable, delivered } = context;
  if (resourceVersion === undefined && !context.offline) return { events: [] };
  const { pods, apiPods, problems, events } = outcomeOf(context.set);
  const whole = unavailable ? [{ origin: 'api', message: `cannot list pods: ${unavailable}` }] : [];
  const isFirst = resourceVersion !== undefined && (!delivered || delivered.recalled);
  const mirrors = isFirst ? mirroredOf(context.set) : {};
  const set: SourceSet = {
    type: 'source.set',
    source: 'api',
    pods,
    problems: [...whole, ...problems],
    ...(resourceVersion === undefined && { recalled: true }),
    ...(Object.keys(mirrors).length > 0 && { mirrors }),
  };
  const isNews =
    !sameItems(delivered?.pods, pods) ||
    delivered?.recalled !== set.recalled ||
    !sameJson(delivered?.problems, set.problems);
  const isApiNews = resourceVersion !== undefined && !sameItems(context.deliveredApi, apiPods);
  return {
    events,
    ...(isNews && { set }),
    ...(isApiNews && { api: { type: 'api.pods', resourceVersion, pods: apiPods } }),
  };
}

/** What has to be written and forgotten, so that a later agent knows the pods; nothing before the API was heard. */
export function toKeep({ resourceVersion, delivered, kept }: ApiSourceContext): ReturnType<typeof keepingOf> {
  return keepingOf(resourceVersion === undefined ? kept : (delivered?.pods ?? []), kept);
}

/**
 * What counts as kept after a write that failed: some of it may have been done. What was to be kept is written once more
 * if it is still there then (a copy is no pod of the set), and else forgotten like all that was kept before.
 */
export function afterFailedKeeping({ kept, keeping }: ApiSourceContext): DesiredPod[] {
  return withOthers(
    kept,
    keeping.map((pod) => ({ ...pod })),
  );
}

/** The copies that an earlier agent kept, as far as this one runs such pods. */
export function recalledCopies(set: ApiSet): DesiredPod[] {
  return [...set.values()].flatMap(({ asked }) => asked ?? []);
}

/** These pods, and those of the others that are none of them. */
export function withOthers(pods: readonly DesiredPod[], others: readonly DesiredPod[]): DesiredPod[] {
  const own = new Set(pods.map(({ metadata }) => metadata.uid));
  return [...pods, ...others.filter(({ metadata }) => !own.has(metadata.uid))];
}
