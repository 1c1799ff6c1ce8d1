import { describe, expect, test } from '@jest/globals';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import { Invariants } from './invariants.ts';
import type { LedgerLine, SimRuntime } from './runtime.ts';

/** A runtime that only says what it is made to say. */
function witness() {
  const clock = { elapsed: 0 };
  const runtime: Pick<SimRuntime, 'containers' | 'onLedger'> & { clock: typeof clock } = {
    containers: new Map(),
    onLedger: undefined,
    clock,
  };
  const spec = {
    initContainers: [{ name: 'init', image: 'i' }],
    containers: [{ name: 'app', image: 'i' }],
  };
  const specs = new Map([['u', { metadata: { uid: 'u' }, spec } as unknown as DesiredPod]]);
  const invariants = new Invariants(runtime, specs);
  const line = (what: string, more: Partial<LedgerLine> = {}) => {
    const full = {
      at: clock.elapsed,
      what,
      podUid: 'u',
      fullName: 'p_default',
      container: 'app',
      id: 'c',
      sandboxId: 's',
      ...more,
    };
    runtime.onLedger?.(full);
  };
  /** A container of the runtime, as far as the invariants look at it. */
  const has = (id: string, more: object = {}) =>
    runtime.containers.set(id, {
      id,
      podUid: 'u',
      fullName: 'p_default',
      name: 'app',
      state: 'running',
      ...more,
    } as never);
  const initIsOver = () => {
    has('i', { name: 'init', state: 'exited', exitCode: 0 });
    line('container.exited', { container: 'init', id: 'i' });
  };
  return { invariants, clock, line, has, initIsOver };
}

describe('a wrong run is caught', () => {
  test('two running containers of one name', () => {
    const { invariants, line, has, initIsOver } = witness();
    initIsOver();
    has('a');
    line('container.started', { id: 'a' });
    expect(invariants.breaches).toEqual([]);
    has('b');
    line('container.started', { id: 'b' });
    expect(invariants.breaches).toEqual(['0 ms: two running containers for u/app']);
  });

  test('two pods of one name', () => {
    const { invariants, line, has } = witness();
    has('a', { podUid: 'other' });
    line('container.started', { podUid: 'other', id: 'a' });
    has('b', { podUid: 'third' });
    line('container.started', { podUid: 'third', id: 'b' });
    expect(invariants.breaches).toEqual(['0 ms: pod p_default runs under two UIDs']);
  });

  test('what a dead agent started last is excused for as long as the next agent may not know of it', () => {
    const { invariants, clock, line, has, initIsOver } = witness();
    initIsOver();
    has('a');
    line('container.started', { id: 'a', posthumous: true });
    has('b');
    line('container.started', { id: 'b' });
    expect(invariants.breaches).toEqual([]);
    clock.elapsed = 100_000;
    line('container.started', { id: 'c' });
    expect(invariants.breaches).toHaveLength(1);
  });

  test('a start after the pod was removed', () => {
    const { invariants, clock, line, initIsOver } = witness();
    initIsOver();
    invariants.unwanted('u');
    clock.elapsed = 20_001;
    line('container.started');
    expect(invariants.breaches).toEqual(['20001 ms: u/app started after its pod was removed']);
  });

  test('a container that starts before the init container is over, or in another sandbox than it', () => {
    const { invariants, line, initIsOver } = witness();
    line('container.started');
    initIsOver();
    line('container.started');
    line('container.started', { sandboxId: 'next' });
    expect(invariants.breaches).toEqual([
      '0 ms: u/app started before init was over',
      '0 ms: u/app started before init was over',
    ]);
  });

  test('a grace that grows, also over a restart, unless the other agent cannot know of it', () => {
    const { invariants, clock, line } = witness();
    line('container.stopAsked', { graceSeconds: 10 });
    clock.elapsed = 5000;
    line('container.stopAsked', { graceSeconds: 5 });
    expect(invariants.breaches).toEqual([]);
    line('container.stopAsked', { graceSeconds: 10 });
    expect(invariants.breaches).toEqual(['5000 ms: grace of u/app grew: kill at 10000 became 15000']);
    invariants.agentStarted(new Set(['c']));
    line('container.stopAsked', { graceSeconds: 30 });
    expect(invariants.breaches).toHaveLength(2);
    invariants.agentStarted(new Set());
    line('container.stopAsked', { graceSeconds: 30 });
    expect(invariants.breaches).toHaveLength(2);
  });

  test('a container that runs while its sandbox is stopped', () => {
    const { invariants, line } = witness();
    line('container.cutOff', { late: true });
    expect(invariants.breaches).toEqual([]);
    line('container.cutOff');
    expect(invariants.breaches).toEqual(['0 ms: u/app was cut off: its sandbox was stopped while it ran']);
  });

  test('an attempt that is used again, unless every trace of the pod was removed before', () => {
    const { invariants, line } = witness();
    line('container.created', { attempt: 1 });
    line('container.created', { attempt: 1 });
    expect(invariants.breaches).toEqual(['0 ms: attempt of u/app went from 1 to 1']);
    invariants.gone('u');
    line('container.created', { attempt: 0 });
    expect(invariants.breaches).toHaveLength(1);
  });

  test('a status that is written after the end of its pod, unless by another agent or of a pod that came anew', () => {
    const { invariants } = witness();
    const after = (step: () => void) => {
      invariants.finished('u');
      step();
      invariants.status('u', { phase: 'Running' });
      return invariants.breaches.length;
    };
    expect(after(() => invariants.agentStarted(new Set()))).toBe(0);
    expect(after(() => invariants.gone('u'))).toBe(0);
    expect(after(() => invariants.finished('other'))).toBe(1);
    expect(invariants.breaches).toEqual(['0 ms: status of u was written after its end']);
  });

  test('a terminal phase that changes', () => {
    const { invariants } = witness();
    invariants.status('u', { phase: 'Running' });
    invariants.status('u', { phase: 'Failed' });
    invariants.status('u', { phase: 'Failed' });
    invariants.status('u', { phase: 'Succeeded' });
    expect(invariants.breaches).toEqual(['0 ms: phase of u went from Failed to Succeeded']);
  });
});
