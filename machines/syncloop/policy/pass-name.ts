import type { PodEntry } from '../syncloop.types.ts';

/**
 * The pod `uid` holds its name no longer: the first of those that wait for it is `next` to have it, and the others wait for
 * that one. Where it had been waiting itself, it never held the name: they wait for the pod that it waited for.
 */
export function passName(
  entries: Readonly<Record<string, PodEntry>>,
  uid: string,
): { entries: Readonly<Record<string, PodEntry>>; next?: string } {
  const [first, ...others] = Object.values(entries).filter((e) => e.waitsFor === uid);
  if (!first) return { entries };
  const holder = entries[uid]?.waitsFor;
  const after = { ...entries, [first.uid]: { ...first, waitsFor: holder } };
  for (const other of others) after[other.uid] = { ...other, waitsFor: holder ?? first.uid };
  return { entries: after, next: holder === undefined ? first.uid : undefined };
}
