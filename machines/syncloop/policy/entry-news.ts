import type { ClusterRequest } from '../cluster.types.ts';
import type { PodEntry } from '../syncloop.types.ts';
import { isTerminal } from './merge-status.ts';

type Entries = Readonly<Record<string, PodEntry>>;
type News = Extract<ClusterRequest, { type: 'pod.wanted' | 'pod.forgotten' }>;

/**
 * What the writer of statuses is to hear: the entries that changed, and those that are gone. A pod that only the runtime
 * knows is nobody's in the API.
 */
export function entryNews(before: Entries, after: Entries): News[] {
  const news: News[] = [];
  for (const [uid, entry] of Object.entries(after)) {
    if (before[uid] === entry) continue;
    const { pod, source, released, ending, again } = entry;
    // Wanted again under its UID, it is not over for those who asked for it: the API would never take back that it was.
    const status = again && isTerminal(entry.status) ? undefined : entry.status;
    if (pod && source) news.push({ type: 'pod.wanted', uid, pod, source, status, released, ending });
  }
  for (const uid of Object.keys(before)) if (!after[uid]) news.push({ type: 'pod.forgotten', uid });
  return news;
}
