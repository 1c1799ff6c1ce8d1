import { once } from 'node:events';
import { mkdir, open, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { readManifests } from '../../../services/host/manifests/index.ts';
import { watchLocation } from '../../../services/host/manifests/watch.ts';
import { NEVER, temporary } from './rig.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

describe('a manifest folder', () => {
  test('is answered in order, with an error for what is no manifest and nothing for dotfiles', async () => {
    const folder = await temporary();
    await writeFile(join(folder, 'b.yaml'), 'b');
    await symlink('b.yaml', join(folder, 'a.yaml'));
    await writeFile(join(folder, '.hidden'), 'x');
    await writeFile(join(folder, 'latin1.yaml'), Buffer.from([0x61, 0xe9]));
    await writeFile(join(folder, 'huge.yaml'), Buffer.alloc(10 * 1024 * 1024 + 1));
    await mkdir(join(folder, 'sub'));
    expect(await readManifests(folder, {}, NEVER)).toEqual([
      { origin: join(folder, 'a.yaml'), text: 'b' },
      { origin: join(folder, 'b.yaml'), text: 'b' },
      { origin: join(folder, 'huge.yaml'), error: 'is larger than 10 MiB' },
      { origin: join(folder, 'latin1.yaml'), error: 'is not UTF-8 text' },
      { origin: join(folder, 'sub'), error: expect.stringContaining('is a folder') },
    ]);
  });

  test('with links that lead round in a circle: they are told of and hide no other file', async () => {
    const folder = await temporary();
    await symlink('b.yaml', join(folder, 'a.yaml'));
    await symlink('a.yaml', join(folder, 'b.yaml'));
    await writeFile(join(folder, 'c.yaml'), 'c');
    expect(await readManifests(folder, {}, NEVER)).toEqual([
      { origin: join(folder, 'a.yaml'), error: expect.stringMatching(/^cannot be read: ELOOP/) },
      { origin: join(folder, 'b.yaml'), error: expect.stringMatching(/^cannot be read: ELOOP/) },
      { origin: join(folder, 'c.yaml'), text: 'c' },
    ]);
  });

  test('is read again only where a file changed, a replaced file of the same size included', async () => {
    const folder = await temporary();
    const file = join(folder, 'a.yaml');
    const known = new Map();
    const texts = async () => (await readManifests(folder, {}, NEVER, known)).map(({ text }) => text);
    await writeFile(file, 'one');
    await sleep(80);
    expect(await texts()).toEqual(['one']);
    const [{ manifest }] = [...known.values()] as [{ manifest: object }];
    expect((await readManifests(folder, {}, NEVER, known))[0]).toBe(manifest);
    await writeFile(join(folder, '.draft'), 'two');
    await rename(join(folder, '.draft'), file);
    expect(await texts()).toEqual(['two']);
    await writeFile(file, 'six');
    expect(await texts()).toEqual(['six']);
    await rm(file);
    expect(await texts()).toEqual([]);
    expect(known.size).toBe(0);
  });

  test('that is not there is answered as missing, and a single file as itself', async () => {
    const folder = await temporary();
    const absent = join(folder, 'absent');
    expect(await readManifests(absent, {}, NEVER)).toEqual([
      { origin: absent, error: 'does not exist', missing: true },
    ]);
    await writeFile(join(folder, 'one.yaml'), 'x');
    expect(await readManifests(join(folder, 'one.yaml'), {}, NEVER)).toMatchObject([{ text: 'x' }]);
  });
});

describe('a manifest URL', () => {
  const serve = async (listener: RequestListener) => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    stops.push(() => new Promise((resolve) => server.close(resolve)).finally(() => server.closeAllConnections()));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  test('is asked with the headers, redirects being followed', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/pod' }).end();
      else response.end(`${request.headers['x-a']}`);
    });
    expect(await readManifests(`${url}/`, { 'x-a': ['1', '2'] }, NEVER)).toEqual([{ origin: `${url}/`, text: '1, 2' }]);
  });

  test('that answers otherwise than 200 is an error, and shows no password', async () => {
    const url = await serve((_request, response) => response.writeHead(404).end('secret'));
    const answer = await readManifests(url.replace('//', '//user:pass@'), {}, NEVER);
    expect(answer).toEqual([{ origin: `${url}/`, error: 'the server answered 404 Not Found' }]);
  });

  test('that answers with nothing, or not at all, is an error', async () => {
    const url = await serve((_request, response) => response.end());
    expect(await readManifests(url, {}, NEVER)).toMatchObject([{ error: 'the server answered with no data' }]);
    expect(await readManifests('http://127.0.0.1:1/', {}, NEVER)).toMatchObject([{ error: expect.any(String) }]);
  });
});

describe('the watch', () => {
  /** A watched folder with one manifest; `changes` counts what was told. */
  const watched = async (single = false, missing = '') => {
    const folder = join(await temporary(), missing);
    if (!missing) await writeFile(join(folder, 'web.yaml'), 'one');
    const told: string[] = [];
    stops.push(watchLocation(single ? join(folder, 'web.yaml') : folder, ({ type }) => void told.push(type)));
    await sleep(100);
    const until = async (count: number) => {
      for (let n = 0; told.length < count && n < 500; n += 1) await sleep(10);
      // One that is too many would come within the quiet time.
      await sleep(200);
      return told;
    };
    return { folder, told, until };
  };
  const CHANGED = ['manifests.changed'];

  test('B097 a save by temporary file and rename is one change', async () => {
    const { folder, until } = await watched();
    await writeFile(join(folder, '.web.yaml.swp'), 'two');
    await rename(join(folder, '.web.yaml.swp'), join(folder, 'web.yaml'));
    expect(await until(1)).toEqual(CHANGED);
  });

  test('goes on in a folder that is removed and made anew at once, though it gets the same inode number', async () => {
    const { folder, told } = await watched();
    await rm(folder, { recursive: true });
    await mkdir(folder);
    const reached = async (least: number) => {
      for (let n = 0; told.length < least && n < 500; n += 1) await sleep(10);
      return told.length;
    };
    await reached(2);
    expect(told.slice(0, 2)).toContain('watch.failed');
    await sleep(1_500);
    const before = told.length;
    await writeFile(join(folder, '.draft'), 'two');
    await rename(join(folder, '.draft'), join(folder, 'web.yaml'));
    expect(await reached(before + 1)).toBeGreaterThan(before);
    expect(told.at(-1)).toBe('manifests.changed');
  });

  test('B097 a save by truncating and writing in pieces is one change', async () => {
    const { folder, until } = await watched();
    const file = await open(join(folder, 'web.yaml'), 'w');
    for (const part of ['t', 'w', 'o']) {
      await file.write(part);
      await sleep(5);
    }
    await file.close();
    expect(await until(1)).toEqual(CHANGED);
  });

  test('B097 a save that swaps a symbolic link is one change', async () => {
    const { folder, until } = await watched();
    const elsewhere = await temporary();
    await writeFile(join(elsewhere, 'v2'), 'two');
    await symlink(join(elsewhere, 'v2'), join(folder, '.new'));
    await rename(join(folder, '.new'), join(folder, 'web.yaml'));
    expect(await until(1)).toEqual(CHANGED);
  });

  test('B097 a save that moves the old file aside and writes a new one is one change', async () => {
    const { folder, until } = await watched();
    await rename(join(folder, 'web.yaml'), join(folder, '.web.yaml~'));
    await writeFile(join(folder, 'web.yaml'), 'two');
    expect(await until(1)).toEqual(CHANGED);
  });

  test('a single file is watched by its folder, other files there being nobody’s', async () => {
    const { folder, told, until } = await watched(true);
    await writeFile(join(folder, 'other.yaml'), 'x');
    await sleep(200);
    expect(told).toEqual([]);
    await writeFile(join(folder, '.t'), 'two');
    await rename(join(folder, '.t'), join(folder, 'web.yaml'));
    expect(await until(1)).toEqual(CHANGED);
  });

  test('a removal is told', async () => {
    const { folder, until } = await watched();
    await rm(join(folder, 'web.yaml'));
    expect(await until(1)).toEqual(CHANGED);
  });

  test('a folder that is not there yet is no failure of the watch, which begins when it is made', async () => {
    const { folder, told, until } = await watched(false, 'later');
    expect(told).toEqual([]);
    await mkdir(folder);
    expect(await until(1)).toEqual(CHANGED);
  });

  test('a folder that goes away is told as a failure, and watched again when it is back', async () => {
    const { folder, told, until } = await watched();
    await rm(folder, { recursive: true });
    while (!told.includes('watch.failed')) await sleep(10);
    const before = told.length;
    await mkdir(folder);
    expect((await until(before + 1)).slice(before)).toEqual(CHANGED);
  });
});
