import { GATES } from './data/gates.ts';
import type { GateRow } from './tables.types.ts';

const byName = new Map(GATES.map((g) => [g.name, g]));

/** Switches for whole stages; a gate named by itself wins over them (component-base/featuregate: AllAlpha, AllBeta). */
const STAGES: Record<string, string> = { AllAlpha: 'Alpha', AllBeta: 'Beta' };

export function gateNamed(name: string): GateRow | undefined {
  return byName.get(name);
}

export function isKnownGate(name: string): boolean {
  return byName.has(name) || Object.hasOwn(STAGES, name);
}

/** Whether a gate is on, given the gates that were set. */
export function gateEnabled(name: string, set: Readonly<Record<string, boolean>> = {}): boolean {
  const gate = byName.get(name);
  if (!gate) return false;
  const own = Object.hasOwn(set, name) ? set[name] : undefined;
  const stage = Object.entries(STAGES).find(([, s]) => s === gate.stage)?.[0];
  const whole = stage && Object.hasOwn(set, stage) && !gate.locked ? set[stage] : undefined;
  return own ?? whole ?? gate.default;
}

/** Every gate, for rules over all of them. */
export const ALL_GATES = GATES;
