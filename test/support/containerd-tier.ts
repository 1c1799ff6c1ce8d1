import { statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe } from '@jest/globals';
import { startContainerd } from './containerd.ts';
import type { PrivateContainerd } from './containerd.ts';

/** Everything that a private containerd is made of. */
const NEEDED = ['containerd', 'ctr', 'runc', 'busybox', 'catatonit', 'tar'];

/**
 * Programs that are missing here for a private containerd, and `root` where the tests do not run as root. Without any
 * of them the tier is left out, unless STATELET_TEST_CONTAINERD=required, with which it fails.
 */
function missing(): string[] {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  const absent = NEEDED.filter((name) => !folders.some((folder) => isExecutable(join(folder, name))));
  return process.getuid?.() === 0 ? absent : [...absent, 'root'];
}

function isExecutable(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o111) !== 0;
}

/** A group of tests on a real runtime. */
export function describeOnContainerd(name: string, tests: () => void): void {
  const required = process.env.STATELET_TEST_CONTAINERD === 'required';
  const elsewhere = process.env.STATELET_TEST_CRI !== undefined;
  const absent = elsewhere ? [] : missing();
  if (absent.length > 0 && !required) describe.skip(`${name} (left out: lacks ${absent.join(', ')})`, tests);
  else describe(name, tests);
}

/** A containerd of one's own, or the runtime that STATELET_TEST_CRI names; that one is not ended, nor can it be. */
export async function testRuntime(): Promise<
  Pick<PrivateContainerd, 'endpoint' | 'stop'> & Partial<PrivateContainerd>
> {
  const endpoint = process.env.STATELET_TEST_CRI;
  if (endpoint !== undefined) return { endpoint, stop: () => Promise.resolve() };
  return startContainerd(await mkdtemp(join(tmpdir(), 'containerd-')));
}
