import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mountsBelow, readMounts, unmount } from '../../../services/host/mounts.ts';
import { secretStores } from '../../../services/host/secret-store.ts';
import { isRoot, NEVER } from './rig.ts';

(isRoot ? describe : describe.skip)('kept secrets', () => {
  let rootDir: string;
  const warnings: string[] = [];
  const logger = { warn: (_fields: object, message: string) => void warnings.push(message), info: () => undefined };
  const mounts = async () => mountsBelow(await readMounts(), rootDir).map(({ path, fsType }) => [path, fsType]);

  beforeAll(async () => {
    rootDir = await mkdtemp(join(tmpdir(), 'secret-store-'));
  });

  afterAll(async () => {
    for (const mount of mountsBelow(await readMounts(), rootDir)) await unmount(mount, NEVER);
    await rm(rootDir, { recursive: true, force: true });
  });

  test('lie in one memory, whoever writes first: nothing hides what another has written', async () => {
    const storeOf = await secretStores({ rootDir }, logger);
    const [objects, tokens] = [storeOf('objects'), storeOf('tokens')];
    expect(await mounts()).toEqual([]);
    await Promise.all([objects.write('a', { secret: 1 }, false), tokens.write('b', { token: 2 }, false)]);
    expect(await mounts()).toEqual([[join(rootDir, 'statelet/secrets'), 'tmpfs']]);
    expect([await objects.read('a'), await tokens.read('b')]).toEqual([{ secret: 1 }, { token: 2 }]);
    expect((await stat(join(rootDir, 'statelet/secrets'))).mode & 0o777).toBe(0o700);
    expect(warnings).toEqual([]);
  });

  test('are known to the next agent, which mounts nothing over them', async () => {
    const next = (await secretStores({ rootDir }, logger))('objects');
    await next.write('c', { secret: 3 }, false);
    expect([await next.read('a'), await next.read('c')]).toEqual([{ secret: 1 }, { secret: 3 }]);
    expect(await mounts()).toHaveLength(1);
  });
});
