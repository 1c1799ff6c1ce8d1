import { setTimeout as sleep } from 'node:timers/promises';

import { status } from '@grpc/grpc-js';

import type { ContainerEventResponse } from '../proto/generated/cri.ts';
import { RuntimeFailure } from './errors.ts';
import type { MethodName, RequestOf } from './methods.ts';

/** What to do to calls of one method. The first fault that matches a call is the one that applies to it. */
interface Fault<Request> {
  /** Which calls; all where absent. */
  match?: (request: Request) => boolean;
  /** How many calls; until `clear()` where absent. */
  times?: number;
  /** Milliseconds to wait. The call then goes on even if its client has gone by then: it finishes late. */
  delayMs?: number;
  /** The call is refused with this status, after `delayMs`. */
  fail?: { code: status; message: string };
  /** The call is never answered; it ends when its client gives up, or with ABORTED at `clear()`. */
  hang?: boolean;
  /** The work is done first, then the call is delayed, refused or never answered. */
  after?: boolean;
  /**
   * The fault strikes in mid-work: RunPodSandbox and CreateContainer have reserved the name but nothing is listed yet,
   * StartContainer has not made the process. A refusal there undoes the reservation.
   */
  midway?: boolean;
}

/** Events of the stream: `fail` or `hang` lose the event, `delayMs` alone sends it late, `after` sends it twice. */
type EventFault = Fault<ContainerEventResponse> & { method: 'ContainerEvent' };
type MethodFault = { [Name in MethodName]: Fault<RequestOf<Name>> & { method: Name } }[MethodName];

interface LedgerEntry {
  method: MethodName;
  request: unknown;
  /** Milliseconds since the epoch. */
  startedAt: number;
  endedAt?: number;
  /** `OK` or the name of a gRPC status; absent while the call runs. */
  outcome?: string;
}

interface FaultedCall {
  readonly entry: LedgerEntry;
  /** Whether the call is to run to its end whatever becomes of its client. */
  readonly faulted: boolean;
  strike(point: FaultPoint, signal: AbortSignal): Promise<void>;
  end(outcome: string): void;
}

type FaultPoint = 'before' | 'midway' | 'after';
type StoredFault = Fault<unknown> & { method: string };

const MIDWAY: readonly string[] = ['RunPodSandbox', 'CreateContainer', 'StartContainer'] satisfies MethodName[];
/** Calls that the ledger remembers; the oldest are forgotten first. */
const LEDGER_LENGTH = 10_000;

/** Faults on demand, and the ordered ledger of every call that arrived. */
export class Faults {
  #faults: StoredFault[] = [];
  #ledger: LedgerEntry[] = [];
  #cleared = new AbortController();

  add(fault: MethodFault | EventFault): void {
    if (fault.midway === true && !MIDWAY.includes(fault.method)) {
      throw new Error(`faults.add: midway is for ${MIDWAY.join(', ')}, not ${fault.method}`);
    }
    this.#faults.push({ ...(fault as StoredFault) });
  }

  /** Forgets every fault; calls that hang end with ABORTED, waits go on. The ledger stays. */
  clear(): void {
    this.#faults = [];
    this.#cleared.abort();
    this.#cleared = new AbortController();
  }

  /** Calls in the order of their arrival, of one method or of all. */
  calls(method?: MethodName): readonly LedgerEntry[] {
    return method === undefined ? [...this.#ledger] : this.#ledger.filter((entry) => entry.method === method);
  }

  /** Books a call; the fault that will strike it is chosen now. For the server. */
  begin(method: MethodName, request: unknown): FaultedCall {
    const entry: LedgerEntry = { method, request, startedAt: Date.now() };
    this.#ledger.push(entry);
    if (this.#ledger.length > LEDGER_LENGTH) this.#ledger.shift();
    const fault = this.#take(method, request);
    // Of now: what is cleared between the work and the hang that follows it hangs no more.
    const cleared = this.#cleared.signal;
    return {
      entry,
      faulted: fault !== undefined,
      strike: async (point, signal) => {
        if (fault !== undefined && pointOf(fault) === point)
          await this.#strike(fault, AbortSignal.any([signal, cleared]));
      },
      end: (outcome) => {
        entry.endedAt = Date.now();
        entry.outcome = outcome;
      },
    };
  }

  /** How often an event is to be sent (0 loses it), once the wait is over. For the event stream. */
  async beforeEvent(event: ContainerEventResponse): Promise<number> {
    const fault = this.#take('ContainerEvent', event);
    if (fault?.delayMs !== undefined) await sleep(fault.delayMs);
    if (fault?.fail !== undefined || fault?.hang === true) return 0;
    return fault?.after === true ? 2 : 1;
  }

  #take(method: string, request: unknown): StoredFault | undefined {
    const fault = this.#faults.find((each) => each.method === method && (each.match?.(request) ?? true));
    if (fault?.times !== undefined) {
      fault.times -= 1;
      if (fault.times <= 0) this.#faults = this.#faults.filter((each) => each !== fault);
    }
    return fault;
  }

  async #strike(fault: StoredFault, signal: AbortSignal): Promise<void> {
    if (fault.delayMs !== undefined) await sleep(fault.delayMs);
    if (fault.hang === true) {
      await aborted(signal);
      throw new RuntimeFailure(status.ABORTED, `${fault.method} hung by a fault`);
    }
    if (fault.fail !== undefined) throw new RuntimeFailure(fault.fail.code, fault.fail.message);
  }
}

function pointOf(fault: StoredFault): FaultPoint {
  if (fault.midway === true) return 'midway';
  return fault.after === true ? 'after' : 'before';
}

/** Settles when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
