import { durationMs, parseDuration } from '../duration.ts';
import { quantityOf } from '../decode.ts';
import { shown } from '../problem.ts';
import { joinPath } from '../schema.ts';
import type { Fail, Rule } from './rule.types.ts';

const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
];

/** pkg/kubelet/eviction/helpers.go:ParseThresholdConfig. */
export const eviction: Rule = ({ config }, fail) => {
  for (const field of ['evictionHard', 'evictionSoft'] as const)
    for (const [signal, text] of Object.entries(config[field] ?? {})) {
      const path = joinPath(field, signal);
      if (known(signal, path, fail)) threshold(text, path, fail);
    }
  for (const [signal, text] of Object.entries(config.evictionSoft ?? {}))
    if (SIGNALS.includes(signal) && !ignored(text) && !Object.hasOwn(config.evictionSoftGracePeriod ?? {}, signal))
      fail(
        joinPath('evictionSoft', signal),
        'has no grace period: accepted is one in evictionSoftGracePeriod for the same signal',
      );
  for (const [signal, text] of Object.entries(config.evictionSoftGracePeriod ?? {})) {
    const path = joinPath('evictionSoftGracePeriod', signal);
    if (!known(signal, path, fail)) continue;
    if (parseDuration(text) === undefined || durationMs(text) < 0)
      fail(path, `${shown(text)} is not accepted: accepted is a duration such as "1m30s", not negative`);
  }
  for (const [signal, text] of Object.entries(config.evictionMinimumReclaim ?? {})) {
    const path = joinPath('evictionMinimumReclaim', signal);
    if (!known(signal, path, fail)) continue;
    const percent = percentage(text);
    const wrong = text.endsWith('%') ? percent === undefined || percent <= 0 : (quantityOf(text) ?? -1n) < 0n;
    if (wrong)
      fail(path, `${shown(text)} is not accepted: accepted is a percentage above 0% or a quantity, not negative`);
  }
};

function known(signal: string, path: string, fail: Fail): boolean {
  if (SIGNALS.includes(signal)) return true;
  fail(path, `is no eviction signal: accepted are ${SIGNALS.join(', ')}`);
  return false;
}

function threshold(text: string, path: string, fail: Fail): void {
  const accepted = 'accepted is a percentage from 0% to 100% or a quantity above 0 such as "100Mi"';
  if (text.endsWith('%')) {
    const percent = percentage(text);
    if (percent === undefined || percent < 0 || percent > 100)
      fail(path, `${shown(text)} is not accepted: ${accepted}`);
  } else if ((quantityOf(text) ?? 0n) <= 0n) fail(path, `${shown(text)} is not accepted: ${accepted}`);
}

/** 0% and 100% switch a signal off. */
function ignored(text: string): boolean {
  return text === '0%' || text === '100%';
}

function percentage(text: string): number | undefined {
  const [, number] = /^([+-]?\d+(?:\.\d*)?)%$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number);
}
