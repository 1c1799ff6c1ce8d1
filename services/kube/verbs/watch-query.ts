/** From where a watch of many objects goes on. */
export interface WatchFrom {
  resourceVersion: string;
  /** Uniform in [0, 1). */
  random: number;
}

/** A watch of a list lasts between this and twice as long, s, so that not all nodes begin anew at once (client-go reflector). */
const SHORTEST_S = 300;

/** What follows a list from its resourceVersion on, with bookmarks. */
export const watchQuery = ({ resourceVersion, random }: WatchFrom) => ({
  resourceVersion,
  allowWatchBookmarks: true,
  timeoutSeconds: Math.round(SHORTEST_S * (1 + random)),
});
