const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Signals closer together than this, ms, are one request: a terminal sends to all, and a wrapper passes its own on. */
const SAME_REQUEST_MS = 300;

/** What follows a signal. */
interface OnSignal {
  drain(signal: NodeJS.Signals): void;
  /** Ends the process as it is; the drain has not come to its end. */
  endNow(signal: NodeJS.Signals): void;
}

/**
 * The first SIGTERM, SIGINT or SIGHUP (a terminal that is closed) drains; a further one ends the agent at once
 * (k8s.io/apiserver/pkg/server/signal.go:SetupSignalContext).
 */
export function listenForSignals({ drain, endNow }: OnSignal, elapsed: () => number = () => performance.now()): void {
  let first: number | undefined;
  for (const signal of SIGNALS)
    process.on(signal, () => {
      if (first === undefined) {
        first = elapsed();
        drain(signal);
      } else if (elapsed() - first > SAME_REQUEST_MS) endNow(signal);
    });
}
