/** A chart's names in words, kept as `meta` of the machine itself: its page and `statelet explain` show them. */
export interface ChartWords {
  /** When it holds, as a clause: `every volume that a container uses is mounted`. */
  guards: Readonly<Record<string, string>>;
  /** What is waited out, as a noun: `the back-off after its last crash`. */
  delays: Readonly<Record<string, string>>;
  /** What has happened, as a clause: `the pod is wanted in another form`. */
  events: Readonly<Record<string, string>>;
}

/** Of one state, as its `meta`. */
export interface StateWords {
  /** Names of the guards and events that it waits for; others that leave it are not waited for. */
  awaits?: readonly string[];
  /** While it is entered, pods or the whole node cannot go on. */
  holdsBack?: boolean;
}
