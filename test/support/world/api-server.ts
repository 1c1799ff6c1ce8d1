import type { AgentError } from '../../../machines/agent-error.types.ts';
import { apiError, cancelled, tooLate, unavailable } from '../../../services/kube/errors.ts';
import type { Kube, RequestOptions, WatchOptions } from '../../../services/kube/client.ts';
import { Api } from '../apiserver/api.ts';
import type { Call, Target } from '../apiserver/api.ts';
import { bootstrap, runControllers } from '../apiserver/controllers.ts';
import { ApiError } from '../apiserver/errors.ts';
import { answerVerb, authorize, listOptions } from '../apiserver/handler.ts';
import type { Dict, KubeObject } from '../apiserver/objects.ts';
import { resourceNamed } from '../apiserver/resources.ts';
import { isTrue, route } from '../apiserver/route.ts';
import { bind } from '../apiserver/subresources.ts';
import type { ApiParts } from '../apiserver/subresources.ts';
import { Tokens } from '../apiserver/tokens.ts';
import { LOOPBACK } from '../apiserver/users.ts';
import type { User } from '../apiserver/users.ts';
import { watch } from '../apiserver/watching.ts';
import type { WatchEvent } from '../apiserver/watching.ts';
import type { VirtualClock } from './clock.ts';
import type { Random } from './random.ts';
import type { Caller } from './runtime.ts';

/** How often calls of the agent misbehave, as probabilities of one call. All zero: a perfect server on a perfect line. */
export interface ApiFaults {
  /** A write is refused with a code that says to come again, or with a conflict; a read with a code. */
  refused: number;
  /** A write is done, and its answer is lost. */
  answerLost: number;
  /** The deadline passes, nothing is done. */
  hangs: number;
  /** Seconds pass before it is looked at. */
  slow: number;
  /** Each n-th write is refused; 0: none. */
  everyNth: number;
}

export const NO_API_FAULTS: ApiFaults = { refused: 0, answerLost: 0, hangs: 0, slow: 0, everyNth: 0 };

/** One write of the agent, as the store saw it: a witness beside the agent. */
export interface ApiWrite {
  at: number;
  verb: string;
  /** `pods/status` */
  resource: string;
  target: Target;
  body: Dict;
  /** The object before and after; undefined where there is none. */
  before?: KubeObject;
  after?: KubeObject;
  /** Why it was refused. */
  error?: ApiError;
  /** Done for an agent that was dead by then. */
  posthumous: boolean;
}

const SERVER = 'api.sim';
const DEADLINE = 30_000;
const BOOKMARK = 60_000;
const REFUSALS = [
  { code: 500, reason: 'InternalError' },
  { code: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 },
  { code: 503, reason: 'ServiceUnavailable' },
  { code: 504, reason: 'Timeout' },
  { code: 409, reason: 'Conflict' },
] as const;

/** Creations of different objects, and the lease: a new Node's takes over while the last write of the old one's is out. */
const MAY_OVERLAP = /\/(pods|events|nodes) |\/leases/;

/**
 * The test double's API (test/support/apiserver) in virtual time: its store, its rules and its controllers, with a client
 * in place of HTTP whose line and server fail by chance. Users and controllers reach it always; faults are the agent's.
 */
export class SimApiServer {
  readonly api: Api;
  faults: ApiFaults = { ...NO_API_FAULTS };
  /** The agent's line: `refuses` at once, `silent` until the deadline. */
  #away: 'refuses' | 'silent' | undefined;
  onWrite: ((write: ApiWrite) => void) | undefined;
  /** A pod's state was told to the living agent: `wanted`, or deleted or gone. */
  onTold: ((uid: string, wanted: boolean) => void) | undefined;
  /** Told of every call that the agent makes. */
  onCall: ((op: string) => void) | undefined;
  onTrace: ((line: string) => void) | undefined;
  /** Calls of one agent that are under way, by what they write to. */
  readonly #inFlight = new Map<string, number>();
  /** Said of each second writer of one object. */
  onTwoWriters: ((what: string) => void) | undefined;
  /** Calls that the agent made, and when the last write of each resource succeeded. */
  calls = 0;
  readonly lastWrite = new Map<string, number>();
  #writes = 0;
  readonly #watches = new Set<(clean: boolean) => void>();
  readonly #parts: ApiParts;
  readonly #clock: VirtualClock;
  readonly #random: Random;
  readonly #user: User;

  constructor(clock: VirtualClock, random: Random, nodeName: string) {
    this.#clock = clock;
    this.#random = random;
    this.#user = { username: `system:node:${nodeName}`, groups: ['system:nodes', 'system:authenticated'] };
    // The server's clock is right, whatever the node's is.
    const now = () => clock.epoch + clock.elapsed;
    const hex = (digits: number) => Array.from({ length: digits }, () => random.between(0, 15).toString(16)).join('');
    this.api = new Api(now, () => [8, 4, 4, 4, 12].map(hex).join('-'));
    this.#parts = { api: this.api, tokens: new Tokens(this.api.store, now) };
    runControllers(this.api, '', { schedule: false });
    bootstrap(this.api);
    // The controllers make it a moment later: the first pod may be there before.
    this.attempt((api, call) =>
      api.create(this.target('serviceaccounts', 'default', ''), { metadata: { name: 'default' } }, call),
    );
  }

  get away(): 'refuses' | 'silent' | undefined {
    return this.#away;
  }

  set away(away: 'refuses' | 'silent' | undefined) {
    this.#away = away;
    if (away) this.cutWatches();
  }

  /** Every watch ends: as a server that rolls does, or with the line. */
  cutWatches(clean = false): void {
    for (const cut of [...this.#watches]) cut(clean);
  }

  /** Watches that begin before now get 410. */
  compact(): void {
    this.api.store.compact();
  }

  /** A user's call: done at once, whatever the agent's line is like. Answers undefined where it is refused. */
  attempt<T>(work: (api: Api, call: Call) => T): T | undefined {
    try {
      return work(this.api, { user: LOOPBACK, dryRun: false, strict: true, unknown: [] });
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }

  bind(namespace: string, name: string, node: string): void {
    this.attempt((api) => bind(api, this.target('pods', namespace, name), { target: { name: node } }));
  }

  target(plural: string, namespace: string, name: string): Target {
    return { resource: resourceNamed(plural), namespace, name, subresource: '' };
  }

  /** The client of one run of the agent. */
  kube(caller: Caller): Kube {
    this.#inFlight.clear();
    return {
      request: <T>(options: RequestOptions) => this.#request(options, caller) as Promise<T>,
      watch: <T>(options: WatchOptions<T>) => this.#watch(options as WatchOptions<unknown>, caller),
      settled: () => Promise.resolve(),
      close: () => undefined,
    };
  }

  #request(options: RequestOptions, caller: Caller): Promise<unknown> {
    const { op = '', method, deadlineMs = DEADLINE, signal } = options;
    const random = this.#random;
    const isRead = method === 'GET';
    // Of one object: another one may have its name by now.
    const { metadata, preconditions } = (options.body ?? {}) as {
      metadata?: { uid?: string };
      preconditions?: { uid?: string };
    };
    const key = isRead ? '' : `${options.path} ${metadata?.uid ?? preconditions?.uid ?? ''}`;
    if (key && !caller.dead) this.#begin(key);
    this.calls++;
    this.onCall?.(op);
    const [there, back, dice] = [random.between(1, 8), random.between(1, 8), random.next()];
    const refusal = random.pick(REFUSALS);
    const slowMs = random.between(500, 5_000);
    let deadline: number | undefined;
    const answer = new Promise<unknown>((resolve, reject) => {
      if (isRead) signal?.addEventListener('abort', () => reject(cancelled(op)));
      const after = (ms: number, then: () => void) =>
        void this.#clock.setTimeout(() => {
          if (!caller.dead || !isRead) then();
        }, ms);
      const lost = () => reject(unavailable(op, SERVER, new Error('the line is broken')));
      if (this.#away === 'refuses') return after(1, lost);
      deadline = this.#clock.setTimeout(() => reject(tooLate(op, SERVER, deadlineMs)), deadlineMs);
      if (this.#away === 'silent') return;
      const fate = this.#fate(dice, isRead);
      if (fate === 'hangs') return;
      after(fate === 'slow' ? there + slowMs : there, () => {
        if (this.#away === 'refuses') return lost();
        if (this.#away === 'silent') return;
        if (fate === 'refused' && !(refusal.code === 409 && (isRead || options.turns === 'events'))) {
          const details = 'retryAfterSeconds' in refusal ? { retryAfterSeconds: refusal.retryAfterSeconds } : {};
          const { status } = new ApiError(refusal.code, refusal.reason, `fault: ${refusal.reason}`, details);
          return after(back, () => reject(apiError(op, refusal.code, status)));
        }
        const result = this.#answer(options, caller);
        after(back, () => {
          if (fate === 'answerLost' || this.#away === 'refuses') return lost();
          if (this.#away === 'silent') return;
          if (result instanceof ApiError) return reject(apiError(op, result.status.code, result.status));
          if (op === 'list pods') this.#toldOf((result as { items: KubeObject[] }).items);
          resolve(result);
        });
      });
    });
    const alive = answer.finally(() => {
      if (deadline !== undefined) this.#clock.clearTimeout(deadline);
      if (key && !caller.dead) this.#end(key);
    });
    return alive.then(
      (value) => (caller.dead ? new Promise(() => undefined) : value),
      (error: unknown) => (caller.dead ? new Promise(() => undefined) : Promise.reject(error as AgentError)),
    );
  }

  #fate(dice: number, isRead: boolean): keyof ApiFaults | 'works' {
    const { everyNth } = this.faults;
    if (!isRead && everyNth && ++this.#writes % everyNth === 0) return 'refused';
    let edge = 0;
    for (const fate of ['refused', 'answerLost', 'hangs', 'slow'] as const)
      if (dice < (edge += this.faults[fate])) return fate;
    return 'works';
  }

  #begin(key: string): void {
    const now = (this.#inFlight.get(key) ?? 0) + 1;
    this.#inFlight.set(key, now);
    if (now > 1 && !MAY_OVERLAP.test(key)) this.onTwoWriters?.(key);
  }

  #end(key: string): void {
    this.#inFlight.set(key, (this.#inFlight.get(key) ?? 1) - 1);
  }

  /** What the server makes of it, as it comes over the wire. */
  #answer(options: RequestOptions, caller: Caller): unknown {
    const { method, path, query = {}, body } = options;
    const url = new URL(path, `https://${SERVER}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const where = route(method, url);
    if (!where) throw new Error(`nothing is served at ${path}`);
    const { target, verb } = where;
    const { plural } = target.resource;
    const named = { ...target, name: target.name || ((body as KubeObject | undefined)?.metadata?.name ?? '') };
    const stored = () => this.api.store.get(Api.key(named));
    const before = stored();
    const write = {
      at: this.#clock.elapsed,
      verb,
      resource: target.subresource ? `${plural}/${target.subresource}` : plural,
      target: named,
      body: (body ?? {}) as Dict,
      before,
      posthumous: caller.dead,
    };
    try {
      authorize({ ...where, user: this.#user }, this.#parts);
      const question = {
        ...where,
        user: this.#user,
        message: { headers: { 'content-type': options.contentType ?? 'application/json' } },
        response: { setHeader: () => undefined as never },
        body: Buffer.from(body ? JSON.stringify(body) : ''),
      };
      const answer = answerVerb(question, this.#parts, () => undefined);
      if (method !== 'GET') {
        this.onTrace?.(`${this.#clock.elapsed} api ${verb} ${write.resource} ${named.name} ${JSON.stringify(body)}`);
        this.lastWrite.set(write.resource, this.#clock.elapsed);
        this.onWrite?.({ ...write, after: stored() });
      }
      return JSON.parse(JSON.stringify(answer.body)) as unknown;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.onTrace?.(`${this.#clock.elapsed} api ${verb} ${write.resource} ${named.name}: ${error.message}`);
      if (method !== 'GET') this.onWrite?.({ ...write, after: before, error });
      return error;
    }
  }

  #watch(options: WatchOptions<unknown>, caller: Caller): Promise<void> {
    const { op = 'watch', path, query, signal, onEvent } = options;
    this.calls++;
    this.onCall?.(op);
    return new Promise((resolve, reject) => {
      let isOver = false;
      let last = 0;
      const timers: number[] = [];
      let stop = () => undefined as void;
      const over = (then: () => void) => {
        if (isOver) return;
        isOver = true;
        stop();
        this.#watches.delete(cut);
        for (const timer of timers) this.#clock.clearTimeout(timer);
        if (!caller.dead) then();
      };
      /** In the server's order, each a moment after it happened. */
      const later = (then: () => void) => {
        last = Math.max(last, this.#clock.elapsed + this.#random.between(1, 8));
        timers.push(this.#clock.setTimeout(then, last - this.#clock.elapsed));
      };
      const lost = () => over(() => reject(unavailable(op, SERVER, new Error('the line is broken'))));
      const cut = (clean: boolean) => (clean ? over(resolve) : lost());
      this.#watches.add(cut);
      signal.addEventListener('abort', () => over(() => reject(cancelled(op))));
      if (this.#away === 'silent') {
        timers.push(this.#clock.setTimeout(() => over(() => reject(tooLate(op, SERVER, DEADLINE))), DEADLINE));
        return;
      }
      later(() => {
        if (this.#away) return lost();
        const url = new URL(path, `https://${SERVER}`);
        for (const [name, value] of Object.entries({ ...query, watch: true }))
          url.searchParams.set(name, String(value));
        const where = route('GET', url);
        if (!where) throw new Error(`nothing is served at ${path}`);
        const send = (event: WatchEvent) => {
          const told = JSON.parse(JSON.stringify(event)) as WatchEvent;
          later(() => {
            if (told.type === 'ERROR') return over(() => reject(apiError(op, told.object.code, told.object)));
            if (told.type !== 'BOOKMARK') this.#toldPod(told.object, told.type === 'DELETED');
            this.onTrace?.(`${this.#clock.elapsed} told ${told.type} ${told.object.metadata.name ?? ''}`);
            onEvent(told);
          });
        };
        try {
          authorize({ ...where, user: this.#user }, this.#parts);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          return over(() => reject(apiError(op, error.status.code, error.status)));
        }
        const asked = {
          ...listOptions(where.query),
          allowWatchBookmarks: isTrue(where.query.get('allowWatchBookmarks')),
          sendInitialEvents: false,
        };
        const watching = watch(this.api, where.target, asked, send);
        stop = watching.stop;
        const bookmark = () => {
          watching.bookmark();
          timers.push(this.#clock.setTimeout(bookmark, BOOKMARK));
        };
        timers.push(this.#clock.setTimeout(bookmark, BOOKMARK));
        timers.push(this.#clock.setTimeout(() => over(resolve), query.timeoutSeconds * 1000));
      });
    });
  }

  /** UIDs that the agent was told of. */
  readonly #known = new Set<string>();

  #toldOf(items: readonly KubeObject[]): void {
    const uids = new Set<string>();
    for (const pod of items) {
      uids.add(pod.metadata.uid ?? '');
      this.#toldPod(pod, false);
    }
    for (const uid of this.#known) if (!uids.has(uid)) this.onTold?.(uid, false);
  }

  #toldPod({ metadata: { uid = '', deletionTimestamp } }: KubeObject, isGone: boolean): void {
    this.#known.add(uid);
    this.onTold?.(uid, !isGone && !deletionTimestamp);
  }
}
