import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from '@jest/globals';
import { connectCri } from '../../services/cri/client.ts';
import { imageStatus } from '../../services/cri/verbs/image-status.ts';
import { listPodSandbox } from '../../services/cri/verbs/list-pod-sandbox.ts';
import { startContainerd } from './containerd.ts';
import type { PrivateContainerd } from './containerd.ts';
import { describeWhere } from './describe-where.ts';
import { takeLock } from './lock.ts';

/** Everything that a private containerd is made of. */
const NEEDED = ['containerd', 'ctr', 'runc', 'busybox', 'catatonit', 'tar'];
const IMAGES = ['busybox:1.35', 'busybox:latest'];

/** The runtime that the tier is pointed at, where it is not to start its own. */
const elsewhere = process.env.STATELET_TEST_CRI;

/** Longest wait for the runtime, ms: on one that is shared each file of tests waits for its turn. */
export const RUNTIME_MS = elsewhere === undefined ? 90_000 : 900_000;

/** A test that needs a runtime of the tests' own: to add images to it, or to end it. */
export const testOnPrivate = elsewhere === undefined ? test : test.skip;

/** Programs that are missing here for a private containerd, and `root` where the tests do not run as root. */
function missing(): string[] {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].filter(Boolean);
  const absent = NEEDED.filter((name) => !folders.some((folder) => isExecutable(join(folder, name))));
  return process.getuid?.() === 0 ? absent : [...absent, 'root'];
}

function isExecutable(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o111) !== 0;
}

/** A group of tests on a real runtime. */
export function describeOnContainerd(name: string, tests: () => void): void {
  const lacks = (elsewhere === undefined ? missing() : []).join(', ');
  describeWhere(name, { lacks, variable: 'STATELET_TEST_CONTAINERD' }, tests);
}

/**
 * A containerd of one's own, or the runtime that STATELET_TEST_CRI names, which is not ended, nor can it be. An agent
 * ends every pod that is not its own, so that one belongs to one file of tests at a time, and to no other agent.
 */
export async function testRuntime(): Promise<
  Pick<PrivateContainerd, 'endpoint' | 'stop'> & Partial<PrivateContainerd>
> {
  if (elsewhere === undefined) return startContainerd(await mkdtemp(join(tmpdir(), 'containerd-')));
  const key = createHash('sha256').update(elsewhere).digest('hex').slice(0, 16);
  const stop = await takeLock(join(tmpdir(), `statelet-test-runtime-${key}.lock`));
  try {
    await fits(elsewhere);
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint: elsewhere, stop };
}

/** @throws Error that says what the tests need of the runtime */
async function fits(endpoint: string): Promise<void> {
  const told = (what: string) => new Error(`STATELET_TEST_CRI=${endpoint}: ${what}`);
  const cri = connectCri({ runtimeEndpoint: endpoint, runtimeRequestTimeoutMs: 10_000 });
  try {
    const sandboxes = await listPodSandbox(cri, {});
    if (sandboxes.length > 0)
      throw told(`it has ${sandboxes.length} pods, which the agent under test would end; accepted is one without any`);
    for (const image of IMAGES) if (!(await imageStatus(cri, image))) throw told(`it lacks the image ${image}`);
  } finally {
    cri.close();
  }
}
