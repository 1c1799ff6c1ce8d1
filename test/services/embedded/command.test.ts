import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';

import { pathRewriter } from '../../../services/cri/embedded/container-paths.ts';
import { Mount } from '../../../services/cri/proto/generated/cri.ts';
import { Bench, call } from './client.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start();
});
afterAll(() => bench.stop());

const mounts = (paths: Record<string, string>): Mount[] =>
  Object.entries(paths).map(([containerPath, hostPath]) => Mount.fromPartial({ containerPath, hostPath }));

describe('a path in a container', () => {
  const rewrite = pathRewriter(
    mounts({ '/data': '/host/d', '/data/sub/': '/host/s', '/dev/termination-log': '/host/t' }),
  );

  test.each([
    ['/data', '/host/d'],
    ['/data/x', '/host/d/x'],
    ['/data/sub/x', '/host/s/x'],
    ['--dir=/data', '--dir=/host/d'],
    ['echo x >/data/f; cat "/data/f"', 'echo x >/host/d/f; cat "/host/d/f"'],
    ['/bin:/data:/usr', '/bin:/host/d:/usr'],
    ['echo oops > /dev/termination-log', 'echo oops > /host/t'],
    ['/database', '/database'],
    ['/data-2', '/data-2'],
    ['/data.txt', '/data.txt'],
    ['/var/data', '/var/data'],
    ['x/data', 'x/data'],
  ])('%s is %s on the host', (text, expected) => {
    expect(rewrite(text)).toBe(expected);
  });

  test('is replaced once, even where the host path names another mount', () => {
    expect(pathRewriter(mounts({ '/a': '/b', '/b': '/c' }))('/a /b')).toBe('/b /c');
  });
});

describe('a process', () => {
  test('reaches its mounts by command, environment, directory and exec', async () => {
    const hostPath = join(bench.directory, 'volume');
    const id = await bench.shell('pwd > /data/pwd; echo $TARGET > /data/env; exec sleep 600', {
      workingDir: '/data',
      envs: [{ key: 'TARGET', value: Buffer.from('/data/target') }],
      mounts: mounts({ '/data': hostPath }),
    });
    const { stdout } = await call(bench.client.execSync, bench.client, {
      containerId: id,
      cmd: ['sh', '-c', 'until [ -s /data/env ]; do sleep 0.01; done; cat /data/pwd /data/env'],
      timeout: 0n,
    });
    expect(String(stdout)).toBe(`${hostPath}\n${hostPath}/target\n`);
    expect(await readFile(join(hostPath, 'pwd'), 'utf8')).toBe(`${hostPath}\n`);
  });

  test('has the environment of its config, and nothing of the server', async () => {
    process.env.SERVER_SECRET = 'x';
    const id = await bench.create(await bench.sandbox(), {
      command: ['env'],
      envs: [{ key: 'A', value: Buffer.from('1 2') }],
    });
    await bench.begin(id);
    await bench.exited(id);
    delete process.env.SERVER_SECRET;
    const names = (await bench.output(id)).map((line) => line.split('=')[0]).sort();
    expect(names).toEqual(['A', 'HOSTNAME', 'PATH', 'STATELET_CONTAINER_ID']);
    expect(await bench.output(id)).toContain('A=1 2');
  });

  test('is looked up on the PATH of its container', async () => {
    const id = await bench.create(await bench.sandbox(), {
      command: ['sh'],
      envs: [{ key: 'PATH', value: Buffer.from('/nowhere') }],
    });
    await expect(bench.begin(id)).rejects.toMatchObject({ details: expect.stringContaining('not found in $PATH') });
  });

  test('starts in its scratch directory where the working directory is not there', async () => {
    const id = await bench.shell('pwd', { workingDir: '/no/such/directory' });
    await bench.exited(id);
    expect((await bench.output(id))[0]).toBe(join(bench.stateDir, 'containers', id, 'scratch'));
  });

  test('that is not executable is a start error', async () => {
    await mkdir(join(bench.directory, 'folder'));
    const id = await bench.create(await bench.sandbox(), { command: [join(bench.directory, 'folder')] });
    await expect(bench.begin(id)).rejects.toMatchObject({ details: expect.stringContaining('is not a file') });
    expect(await bench.status(id)).toMatchObject({ exitCode: 128, reason: 'StartError' });
  });

  test('with stdin waits for it, without reads its end', async () => {
    const closed = await bench.shell('cat; echo end');
    await bench.exited(closed);
    expect(await bench.output(closed)).toEqual(['end']);
    const open = await bench.shell('echo up; cat; echo end', { stdin: true });
    await call(bench.client.stopContainer, bench.client, { containerId: open, timeout: 0n });
    expect(await bench.output(open)).not.toContain('end');
  });

  test('with a terminal has both outputs in one stream', async () => {
    const id = await bench.shell('echo err >&2', { tty: true });
    await bench.exited(id);
    expect(await bench.log(id)).toMatch(/ stdout F err\n$/);
  });
});

test('a mount of an image is refused', async () => {
  const sandboxId = await bench.sandbox();
  await expect(
    bench.create(sandboxId, { mounts: [{ containerPath: '/i', image: { image: 'busybox' } }] }),
  ).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
});
