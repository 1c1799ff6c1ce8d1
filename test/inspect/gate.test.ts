import { request } from 'node:http';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Hearing, watched, type Watched } from './watched.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
const start = async (given: Parameters<typeof watched>[0] = {}): Promise<Watched> => {
  const agent = await watched(given);
  open.push(agent);
  return agent;
};
const temporary = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'statelet-inspect-'));
  open.push({ close: () => rm(folder, { recursive: true, force: true }) });
  return folder;
};

interface Answer {
  status: number;
  text: string;
  headers: Record<string, unknown>;
}

function ask(port: number, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request({ port, host: '127.0.0.1', path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    call.on('error', reject);
    call.end();
  });
}

describe('who is let in', () => {
  test('a page with the token, and its socket from the same address', async () => {
    const { port, token, url } = await start();
    expect((await ask(port, `/?token=${token}`)).status).toBe(200);
    const client = new Hearing(url(), { origin: `http://127.0.0.1:${port}` });
    open.push(client);
    await client.until('statelet.hello');
    const byName = await ask(port, `/?token=${token}`, {
      host: `localhost:${port}`,
      origin: `http://localhost:${port}`,
    });
    expect(byName.status).toBe(200);
  });

  test.each(['', '?token=', '?token=wrong', `?token=${'A'.repeat(43)}`, '?token=a&token=b'])(
    'nobody with %j for a token, and no hint is given',
    async (query) => {
      const { port } = await start();
      const { status, text } = await ask(port, `/${query}`);
      expect([status, text]).toEqual([403, 'forbidden\n']);
      const client = new Hearing(`ws://127.0.0.1:${port}/ws${query}`);
      expect(await client.ended()).toBe(403);
    },
  );

  test.each([
    'http://evil.example',
    'null',
    'https://127.0.0.1',
    'http://127.0.0.1:1',
    'http://localhost.evil.example',
  ])('no page from %s, not even with the token', async (origin) => {
    const { url, port, token } = await start();
    expect(await new Hearing(url(), { origin }).ended()).toBe(403);
    expect((await ask(port, `/?token=${token}`, { origin })).status).toBe(403);
  });

  test.each(['evil.example', 'evil.example:PORT', '127.0.0.1', '127.0.0.1:1', 'localhost.evil.example:PORT'])(
    'nobody who reached it as %s: DNS rebinding',
    async (name) => {
      const { url, port, token } = await start();
      const host = name.replace('PORT', String(port));
      expect(await new Hearing(url(), { headers: { host } }).ended()).toBe(403);
      expect((await ask(port, `/?token=${token}`, { host })).status).toBe(403);
      expect((await ask(port, '/assets/page.js', { host })).status).toBe(403);
    },
  );

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])('no %s', async (method) => {
    const { port, token } = await start();
    expect((await ask(port, `/?token=${token}`, {}, method)).status).toBe(405);
  });

  test('no socket but /ws', async () => {
    const { port, token } = await start();
    expect(await new Hearing(`ws://127.0.0.1:${port}/other?token=${token}`).ended()).toBe(404);
  });
});

describe('what is served', () => {
  test('nothing of a page from elsewhere, in no frame, and the address goes nowhere', async () => {
    const { port, token } = await start();
    for (const path of [`/?token=${token}`, '/?token=wrong', '/assets/none.js']) {
      const { headers } = await ask(port, path);
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/default-src 'none'; script-src 'self'; /);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers).toMatchObject({
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect(Object.keys(headers)).not.toContain('access-control-allow-origin');
    }
  });

  test('the built page, its scripts without a token, and nothing else of the disk', async () => {
    const folder = await temporary();
    await mkdir(join(folder, 'page/assets'), { recursive: true });
    await writeFile(join(folder, 'secret.js'), 'secret');
    await writeFile(join(folder, 'page/index.html'), '<p>page</p>');
    await writeFile(join(folder, 'page/assets/page-1.js'), 'page()');
    const { port, token } = await start({ pages: [join(folder, 'none'), join(folder, 'page')] });
    const page = await ask(port, `/?token=${token}`);
    expect([page.text, page.headers['content-type']]).toEqual(['<p>page</p>', 'text/html; charset=utf-8']);
    const script = await ask(port, '/assets/page-1.js');
    expect([script.text, script.headers['content-type']]).toEqual(['page()', 'text/javascript; charset=utf-8']);
    expect((await ask(port, '/index.html')).status).toBe(403);
    for (const path of [
      '/../secret.js',
      '/assets/../../secret.js',
      '/%2e%2e/secret.js',
      '/assets/%2e%2e%2fsecret.js',
      '//secret.js',
    ])
      expect((await ask(port, path)).status).toBe(404);
  });

  test('a note while the page is not built', async () => {
    const { port, token } = await start();
    expect((await ask(port, `/?token=${token}`)).text).toMatch(/page is not built: npm run build makes it/);
  });
});

describe('the token', () => {
  test('and the address with it are for the agent alone, and the address goes when it no longer answers', async () => {
    const folder = await temporary();
    const agent = await watched({ folder });
    for (const file of ['inspect.token', 'inspect.url'])
      expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'inspect.url'), 'utf8')).toBe(
      `http://127.0.0.1:${agent.port}/?token=${agent.token}\n`,
    );
    await agent.close();
    await expect(stat(join(folder, 'inspect.url'))).rejects.toThrow('ENOENT');
  });

  test('is kept over a restart, so that an open page finds its way back', async () => {
    const folder = await temporary();
    const before = await watched({ folder });
    const page = new Hearing(before.url());
    await page.until('statelet.history');
    await before.close();
    expect(await page.ended()).toBe(1001);
    const after = await start({ folder, port: before.port });
    const again = new Hearing(before.url());
    open.push(again);
    await again.until('statelet.history');
    expect(after.token).toBe(before.token);
  });

  test.each([
    ['others can read it', async (path: string) => chmod(path, 0o644)],
    ['it is damaged', async (path: string) => writeFile(path, 'short\n')],
    ['it is removed', async (path: string) => rm(path)],
  ])('is made anew where %s', async (_why, spoil) => {
    const folder = await temporary();
    const before = await watched({ folder });
    await before.close();
    await spoil(join(folder, 'inspect.token'));
    const after = await start({ folder });
    expect(after.token).not.toBe(before.token);
    expect((await stat(join(folder, 'inspect.token'))).mode & 0o777).toBe(0o600);
    expect(await new Hearing(after.url().replace(after.token, before.token)).ended()).toBe(403);
  });
});
