import { describe, expect, test } from '@jest/globals';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import { planContainers } from '../../../machines/pod/policy/plan-containers.ts';
import type { PodPlan } from '../../../machines/pod/pod.types.ts';
import type { ObservedContainer, ObservedSandbox } from '../../../machines/runtime.types.ts';
import { Random } from '../../support/world/random.ts';
import { instance, observed, sandbox, T0 } from './fixtures.ts';
import { podOf } from './plan-summary.ts';

const SEEDS = Array.from({ length: 150 }, (_, seed) => seed);
const STEPS = 60;
const isLive = ({ state }: ObservedContainer) => state === 'running' || state === 'unknown';

/**
 * A pod that follows its plan in a world where anything may happen between two plans: ends, lost sandboxes, pruned
 * records. It keeps a ledger of its own, which nothing prunes, to hold the plans against.
 */
class Walk {
  readonly random: Random;
  readonly pod: DesiredPod;
  sandboxes: ObservedSandbox[] = [];
  containers: ObservedContainer[] = [];
  previous?: PodPlan;
  terminating = false;
  attempts = 0;
  /** By sandbox: sidecars that started and init containers that succeeded in it. */
  readonly initDone = new Map<string, Set<string>>();
  readonly starts = new Map<string, number>();
  readonly successes = new Set<string>();

  constructor(seed: number) {
    this.random = new Random(seed);
    const policy = this.random.pick(['Always', 'OnFailure', 'Never'] as const);
    const init = ['i1', 's1+', 'i2', 's2+'].filter(() => this.random.chance(0.6));
    this.pod = podOf(policy, init, ['a', 'b'].slice(0, this.random.between(1, 2)));
  }

  plan(): PodPlan {
    const view = { observed: observed(this.containers, this.sandboxes), now: T0, replaced: this.previous?.replaced };
    const termination = this.terminating ? { gracePeriodSeconds: 30, startedAt: T0 } : undefined;
    this.previous = planContainers(this.pod, { ...view, termination });
    return this.previous;
  }

  get initNames(): string[] {
    return (this.pod.spec.initContainers ?? []).map(({ name }) => name);
  }

  get live(): string[] {
    return this.containers.filter(isLive).map(({ name }) => name);
  }

  isSidecar(name: string): boolean {
    return name.startsWith('s');
  }

  /** One thing of the plan is done; answers false where there is nothing to do. */
  follow({ sandbox: wanted, containers }: PodPlan): boolean {
    if (wanted.do === 'create' && this.live.length === 0) {
      this.sandboxes = this.sandboxes.map((s) => ({ ...s, state: 'notReady', ips: [] }));
      this.sandboxes.unshift(sandbox({ id: `sandbox-${wanted.attempt}`, attempt: wanted.attempt }));
      return true;
    }
    const todo = Object.entries(containers).filter(([name, { do: what }]) =>
      what === 'stop' ? this.live.includes(name) : what === 'run' && !this.live.includes(name),
    );
    if (todo.length === 0) return false;
    const [name, { do: what }] = this.random.pick(todo);
    if (what === 'stop') this.end(name, 143);
    else if (wanted.do === 'keep') this.start(name, wanted.id);
    return true;
  }

  start(name: string, sandboxId: string): void {
    const attempt = this.attempts++;
    this.containers.unshift(instance(name, { id: `${name}-${attempt}`, sandboxId, attempt }));
    this.starts.set(name, (this.starts.get(name) ?? 0) + 1);
    if (this.isSidecar(name)) this.done(sandboxId, name);
  }

  end(name: string, exitCode: number): void {
    this.containers = this.containers.map((c) => {
      if (c.name !== name || !isLive(c)) return c;
      if (exitCode === 0) this.successes.add(name);
      if (exitCode === 0 && !this.isSidecar(name)) this.done(c.sandboxId, name);
      return { ...c, state: 'exited', exitCode, finishedAt: T0 };
    });
  }

  done(sandboxId: string, name: string): void {
    this.initDone.set(sandboxId, (this.initDone.get(sandboxId) ?? new Set()).add(name));
  }

  /** Something that the pod has no part in. */
  mishap(): void {
    const what = this.random.next();
    const live = this.live;
    if (what < 0.7 && live.length > 0) this.end(this.random.pick(live), this.random.pick([0, 0, 1, 137]));
    else if (what < 0.8) this.sandboxes = this.sandboxes.map((s) => ({ ...s, state: 'notReady', ips: [] }));
    else if (what < 0.95) this.prune();
    else this.terminating = true;
  }

  /** An ended init container's record goes, once a later one stands in the same sandbox. */
  prune(): void {
    const order = [...this.initNames, ...this.pod.spec.containers.map(({ name }) => name)];
    this.containers = this.containers.filter(
      (c) =>
        isLive(c) ||
        !this.initNames.includes(c.name) ||
        !this.containers.some((o) => o.sandboxId === c.sandboxId && order.indexOf(o.name) > order.indexOf(c.name)),
    );
  }

  /** What the plan would start now. */
  starting({ containers }: PodPlan): string[] {
    return Object.keys(containers).filter((name) => containers[name]?.do === 'run' && !this.live.includes(name));
  }
}

function walk(seed: number, check: (walk: Walk, plan: PodPlan) => void, mishaps = 0.4): Walk {
  const w = new Walk(seed);
  for (let step = 0; step < STEPS; step++) {
    const plan = w.plan();
    check(w, plan);
    if (w.random.chance(mishaps) || !w.follow(plan)) w.mishap();
  }
  return w;
}

describe('on every walk', () => {
  test('nothing starts before all init steps ahead of it are done in the same sandbox', () => {
    for (const seed of SEEDS)
      walk(seed, (w, plan) => {
        if (plan.sandbox.do !== 'keep') return;
        const done = w.initDone.get(plan.sandbox.id) ?? new Set();
        for (const name of w.starting(plan)) {
          const index = w.initNames.indexOf(name);
          const ahead = index < 0 ? w.initNames : w.initNames.slice(0, index);
          expect({ seed, name, missing: ahead.filter((n) => !done.has(n)) }).toEqual({ seed, name, missing: [] });
        }
      });
  });

  test('no init container that succeeded is started again in the same sandbox, pruned or not', () => {
    for (const seed of SEEDS)
      walk(seed, (w, plan) => {
        if (plan.sandbox.do !== 'keep') return;
        const done = w.initDone.get(plan.sandbox.id) ?? new Set();
        const again = w.starting(plan).filter((n) => w.initNames.includes(n) && !w.isSidecar(n) && done.has(n));
        expect({ seed, again }).toEqual({ seed, again: [] });
      });
  });

  test('a pod that is to end starts nothing, and stops no sidecar before the others', () => {
    for (const seed of SEEDS)
      walk(seed, (w, plan) => {
        if (!w.terminating) return;
        const plans = Object.entries(plan.containers);
        expect({ seed, runs: plans.filter(([, p]) => p.do === 'run') }).toEqual({ seed, runs: [] });
        const stopped = plans.filter(([, p]) => p.do === 'stop').map(([name]) => name);
        const others = w.live.filter((name) => !w.isSidecar(name));
        const tooEarly = stopped.filter((name) => w.isSidecar(name) && others.length > 0);
        expect({ seed, tooEarly }).toEqual({ seed, tooEarly: [] });
      });
  });

  test('nothing starts without a sandbox, or while the same container still runs', () => {
    for (const seed of SEEDS)
      walk(seed, (w, plan) => {
        const running = new Map(w.containers.filter(isLive).map((c) => [c.name, c.sandboxId]));
        for (const [name, { do: what }] of Object.entries(plan.containers)) {
          if (what !== 'run') continue;
          const id = plan.sandbox.do === 'keep' ? plan.sandbox.id : 'none';
          expect({ seed, name, where: running.get(name) ?? id, id }).toEqual({ seed, name, where: id, id });
          expect(id).not.toBe('none');
        }
      });
  });

  test('under Never no regular container starts twice, under OnFailure none that succeeded', () => {
    for (const seed of SEEDS)
      walk(seed, (w, plan) => {
        const regular = w.starting(plan).filter((name) => !w.initNames.includes(name));
        const { restartPolicy } = w.pod.spec;
        const again = regular.filter((name) =>
          restartPolicy === 'Never' ? w.starts.has(name) : restartPolicy === 'OnFailure' && w.successes.has(name),
        );
        expect({ seed, again }).toEqual({ seed, again: [] });
      });
  });

  test('a finished pod has nothing running and stays finished', () => {
    for (const seed of SEEDS) {
      let finished = false;
      walk(seed, (w, plan) => {
        if (w.terminating) return;
        if (finished) expect({ seed, finished: plan.finished }).toEqual({ seed, finished: true });
        finished ||= plan.finished;
        if (plan.finished) expect({ seed, live: w.live }).toEqual({ seed, live: [] });
      });
    }
  });

  test('the same view gives the same plan', () => {
    for (const seed of SEEDS.slice(0, 50)) walk(seed, (w, plan) => expect(w.plan()).toEqual(plan));
  });

  test('a pod that is left in peace comes to run everything, and one that is to end comes to run nothing', () => {
    for (const seed of SEEDS) {
      const w = new Walk(seed);
      for (let step = 0; step < STEPS; step++) {
        if (w.follow(w.plan())) continue;
        const init = w.live.find((name) => w.initNames.includes(name) && !w.isSidecar(name));
        if (!init) break;
        w.end(init, 0);
      }
      const expected = [...w.initNames.filter(w.isSidecar), ...w.pod.spec.containers.map(({ name }) => name)];
      expect({ seed, live: w.live.toSorted() }).toEqual({ seed, live: expected.toSorted() });
      w.terminating = true;
      while (w.follow(w.plan()));
      expect({ seed, live: w.live }).toEqual({ seed, live: [] });
    }
  });
});
