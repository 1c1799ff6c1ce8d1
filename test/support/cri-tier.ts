import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, test } from '@jest/globals';
import { startContainerd } from './containerd.ts';
import type { PrivateContainerd } from './containerd.ts';

/** What the private containerd is made of. */
const PROGRAMS = ['containerd', 'ctr', 'runc', 'busybox', 'catatonit'];

/** The runtime of the containerd tier. */
export interface TierRuntime {
  /** `unix:///…` */
  endpoint: string;
  /** Absent where STATELET_TEST_CRI names a runtime: its daemon is not the tests' to stop. */
  daemon?: PrivateContainerd;
  stop(): Promise<void>;
}

const given = process.env['STATELET_TEST_CRI'];
const required = process.env['STATELET_TEST_CONTAINERD'] === 'required';
const lacking = given ? undefined : await whatLacks();

/** The runtime that STATELET_TEST_CRI names, else a private containerd in a folder of its own. */
export async function tierRuntime(): Promise<TierRuntime> {
  if (given) return { endpoint: given, stop: async () => undefined };
  if (lacking) throw new Error(`STATELET_TEST_CONTAINERD=required, and ${lacking}`);
  const daemon = await startContainerd(await mkdtemp(join(tmpdir(), 'containerd-')));
  return { endpoint: daemon.endpoint, daemon, stop: () => daemon.stop() };
}

/**
 * `describe` for tests on a real runtime: skipped, saying why, where there is none and STATELET_TEST_CONTAINERD does not
 * say `required`.
 */
export function describeOnRuntime(name: string, tests: () => void): void {
  if (lacking && !required) describe.skip(`${name} (skipped: ${lacking})`, tests);
  else describe(name, tests);
}

/** A test that stops or harms the runtime's daemon: only where that is a private one. */
export const testOnPrivate = given ? test.skip : test;

async function whatLacks(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'the private containerd needs root';
  const missing: string[] = [];
  for (const program of PROGRAMS)
    await promisify(execFile)('sh', ['-c', `command -v ${program}`], {
      env: { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
    }).catch(() => missing.push(program));
  return missing.length ? `not found: ${missing.join(', ')}` : undefined;
}
