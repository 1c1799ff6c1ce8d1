import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const JEST = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];

/** The tests of a file of the tier, the smallest where none is named, in a process of their own, with these settings alone. */
function tier(
  settings: Record<string, string>,
  file = 'test/containerd/cri.test.ts',
): Promise<{ code: number; said: string }> {
  const env = { HOME: process.env.HOME, PATH: '', ...settings };
  return new Promise((done) =>
    execFile(process.execPath, [...JEST, file], { cwd: ROOT, env }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, said: `${stdout}${stderr}` }),
    ),
  );
}

test('where the tier is required and its programs are missing, it fails and names them', async () => {
  const { code, said } = await tier({ STATELET_TEST_CONTAINERD: 'required' });
  expect(said).toMatch(/STATELET_TEST_CONTAINERD=required, and this machine lacks containerd, ctr,/);
  expect(said).toMatch(/\n0 passed, 1 failed\n/);
  expect(code).toBe(1);
}, 60_000);

test('where the tier is not required and its programs are missing, it is skipped, and the reason is told', async () => {
  const { code, said } = await tier({});
  expect(said).toMatch(/left out: lacks containerd, ctr,/);
  expect(said).toMatch(/\n\d+ skipped\n0 passed, 0 failed\n/);
  expect(code).toBe(0);
}, 60_000);

test('where the tier is pointed at a runtime that does not answer, it fails and names its socket', async () => {
  const { code, said } = await tier({ STATELET_TEST_CRI: 'unix:///nowhere/cri.sock' });
  expect(said).toMatch(/ListPodSandbox: the runtime at \/nowhere\/cri\.sock is not available: .*ENOENT/);
  expect(said).toMatch(/\n0 passed, [1-9]\d* failed\n/);
  expect(code).toBe(1);
}, 60_000);

test('where the runtime is there and kubectl is not, the tests by both are skipped, or fail where they are required', async () => {
  const settings = { STATELET_TEST_CRI: 'unix:///nowhere/cri.sock' };
  const file = 'test/containerd/volumes.test.ts';
  const optional = await tier(settings, file);
  expect(optional.said).toMatch(/\non a real runtime \(left out: lacks kubectl\)\n\d+ skipped\n0 passed, 0 failed\n/);
  const required = await tier({ ...settings, STATELET_TEST_CONTAINERD: 'required' }, file);
  expect(required.said).toMatch(/STATELET_TEST_CONTAINERD=required, and this machine lacks kubectl/);
  expect(required.said).toMatch(/\n0 passed, 1 failed\n/);
}, 60_000);
