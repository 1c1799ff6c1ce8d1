import { fromPromise } from 'xstate';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { PodStatus } from '../../machines/kubernetes.types.ts';
import type { KeptStop, KeptStops } from '../../machines/pod/container.types.ts';
import type { PodSlots } from '../../machines/pod/pod.types.ts';
import type { KeptVerdicts, ProbeSlots } from '../../machines/pod/probe.types.ts';
import { effect } from './effect.ts';
import type { FactStore } from './facts.ts';
import type { HostLogger } from './host.types.ts';

/** A disk that hangs holds up no stop for longer than this, ms. */
const STOP_MS = 1_000;
/** Nor the verdict of a probe, ms. */
const VERDICT_MS = 1_000;

/**
 * What is kept of pods over restarts of the agent: how they ended, as the runtime's records of a pod that ran once may be
 * gone before the agent starts again, and it must not run a second time; and until when stops that were begun may last.
 */
export function podFacts(store: FactStore, logger: HostLogger) {
  const last = new Map<string, Promise<void>>();
  /** Containers of which what probes found could not be kept. */
  const unkept = new Set<string>();
  /** One change of a pod's facts after the other: its containers are stopped together. */
  const inTurn = (uid: string, change: () => Promise<void>): Promise<void> => {
    const before = last.get(uid) ?? Promise.resolve();
    const done = before.then(change, change).finally(() => last.get(uid) === done && last.delete(uid));
    last.set(uid, done);
    return done;
  };
  const recordEnd: PodSlots['recordEnd'] = fromPromise(async ({ input: { uid, status } }) => {
    if (isTerminal(status)) await inTurn(uid, () => store.write(uid, { ended: status }));
  });
  /** Removing a file needs no room; a stop that is kept in it counts for more. */
  const forgetVerdicts = async (uid: string) => {
    const known = await store.read(uid);
    if (known && Object.keys(stopsOf(known)).length === 0 && known['ended'] === undefined) await store.remove(uid);
  };
  return {
    recordEnd,

    /** Keeps a stop before it is asked for. Where that cannot be done, it is told, and the stop goes on. */
    async recordStop(uid: string, name: string, stop: KeptStop): Promise<void> {
      try {
        await effect('keep the deadline of a stop', STOP_MS, undefined, () =>
          inTurn(uid, async () => {
            const known = await store.read(uid);
            // Not for longer than the node is up: nothing runs after that.
            await store.write(uid, { ...known, stops: { ...stopsOf(known), [name]: stop } }, false);
          }),
        );
      } catch (error) {
        const { message } = AgentError.from(error, 'keep the deadline of a stop');
        logger.warn(
          { pod: uid, container: name, problem: message },
          'the deadline of a stop could not be kept: an agent that is started before its end gives the whole grace',
        );
      }
    },

    /** Keeps what a probe found. Where that cannot be done, it is told once, until it can. */
    keepVerdict: fromPromise(async ({ input: { podUid, name, verdicts: found } }) => {
      const key = `${podUid}/${name}`;
      try {
        await effect('keep the verdict of a probe', VERDICT_MS, undefined, () =>
          inTurn(podUid, async () => {
            const known = await store.read(podUid);
            if (isTerminal(known?.['ended'] as PodStatus | undefined)) return;
            const verdicts = verdictsOf(known);
            const before = verdicts[name]?.id === found.id ? verdicts[name] : {};
            const after = { ...verdicts, [name]: { ...before, ...found } };
            await store.write(podUid, { ...known, verdicts: after }, false);
          }),
        );
        unkept.delete(key);
      } catch (error) {
        const failure = AgentError.from(error, 'keep the verdict of a probe');
        if (!unkept.has(key))
          logger.warn(
            { pod: podUid, container: name, problem: failure.message },
            'what a probe found could not be kept, which is tried again: an agent that is started before goes by what was kept last',
          );
        unkept.add(key);
        // What lies on the disk may say that it is ready: to know nothing is better than that.
        if (found.readiness === false) await inTurn(podUid, () => forgetVerdicts(podUid));
        throw failure;
      }
    }) as ProbeSlots['keepVerdict'],

    /** What was kept of every pod whose facts can be read, by UID: terminal statuses, stops, and what probes found. */
    async load(): Promise<{
      ended: Record<string, PodStatus>;
      stops: Record<string, KeptStops>;
      verdicts: Record<string, KeptVerdicts>;
    }> {
      const uids = await store.list();
      const facts = await Promise.all(uids.map(async (uid) => [uid, await store.read(uid)] as const));
      const ended = facts.flatMap(([uid, known]) => {
        const status = known?.['ended'] as PodStatus | undefined;
        return isTerminal(status) ? [[uid, status] as const] : [];
      });
      const some = <T extends object>(of: (known: Record<string, unknown> | undefined) => T): Record<string, T> =>
        Object.fromEntries(
          facts.flatMap(([uid, known]) => (Object.keys(of(known)).length > 0 ? [[uid, of(known)] as const] : [])),
        );
      return { ended: Object.fromEntries(ended), stops: some(stopsOf), verdicts: some(verdictsOf) };
    },
  };
}

const isTerminal = (status: PodStatus | undefined): status is PodStatus =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

const verdictsOf = (facts: Record<string, unknown> | undefined) => (facts?.['verdicts'] ?? {}) as KeptVerdicts;

const stopsOf = (facts: Record<string, unknown> | undefined) => (facts?.['stops'] ?? {}) as KeptStops;
